import { Failure } from '../../parts/failure.js';
import { ScrollRegion } from '../../parts/scrollRegion.js';
import { useMetrics } from '../metrics/scraper.js';
import { ChartCard } from './chartCard.js';
import { CHARTS } from './series.js';

/** The page with the activity of the server, now and in the last five minutes. */
export default function ChartsPage() {
  const metrics = useMetrics();
  const snapshots = metrics.snapshots.value;
  const error = metrics.error.value;
  return (
    <section class="stack">
      <div class="row">
        <h1>Charts</h1>
        <span class={`chip ${error ? 'bad' : 'good'}`}>{error ? 'Failed' : 'Live'}</span>
        <span class="soft small">
          Read every two seconds while this page is visible; the last five minutes are kept.
        </span>
      </div>
      {error !== undefined && <Failure error={error} doing="reading metrics" />}
      {snapshots.length > 0 && (
        <ScrollRegion class="charts" label="Charts of the server">
          {CHARTS.map(chart => (
            <ChartCard key={chart.title} chart={chart} snapshots={snapshots} />
          ))}
        </ScrollRegion>
      )}
    </section>
  );
}
