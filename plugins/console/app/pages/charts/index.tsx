import { Failure } from '../../parts/failure.js';
import { useMetrics } from '../metrics/scraper.js';
import { ChartCard } from './chartCard.js';
import { CHARTS } from './series.js';

/** What the server does now, and did in the last five minutes. */
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <div class="charts" role="region" aria-label="Charts of the server" tabIndex={0}>
          {CHARTS.map(chart => (
            <ChartCard key={chart.title} chart={chart} snapshots={snapshots} />
          ))}
        </div>
      )}
    </section>
  );
}
