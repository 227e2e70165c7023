import { hrefOf, place } from '../../router.js';

/** Links to the parts of a page, which are in its address. The first one is shown without a name. */
export function Tabs(props: {
  readonly tabs: readonly (readonly [name: string, label: string])[];
  readonly current: string;
}) {
  const { tabs, current } = props;
  const { path, query } = place.value;
  return (
    <nav class="tabs" aria-label="Parts of the object">
      {tabs.map(([tab, label], i) => (
        <a
          key={tab}
          href={hrefOf(path, { ...Object.fromEntries(query), tab: i === 0 ? '' : tab })}
          aria-current={tab === current ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
