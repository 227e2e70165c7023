/**
 * The charts of the comparison with upstream, made from the table in docs/performance.md, so that they never differ
 * from it.
 */

const SECTION = /^## Beside upstream's server$.*?(^\|.*?)\n\n/ms;
/** The paths of the charts, and the columns of the table that they show. */
export const CHARTS = {
  'docs/images/upstream-rates.svg': { title: "Operations per second, of upstream's", column: 3, isLessBetter: false },
  'docs/images/upstream-cpu.svg': { title: "CPU time of an operation, of upstream's", column: 2, isLessBetter: true },
};

/** `create by 16, by 64 clients` and `3.3 (4), 3.7 (5)` have two values: a label for each. */
function labelsOf(operation, count) {
  if (count === 1) return [operation];
  const [first, ...rest] = operation.split(', ');
  const tail = /\d+ (.*)$/.exec(rest.at(-1))?.[1];
  if (tail === undefined) return [`${first}, ${rest[0]}`, `${first}, ${rest.at(-1)}`];
  const head = first.replace(/by \d+$/, '').trim();
  return [`${first} ${tail}`, `${head} ${rest.at(-1)}`];
}

/** The rows of a chart: the values of a column of the table, each with the baseline 1. */
export function comparedIn(performance, { column, isLessBetter }) {
  const [, table] = SECTION.exec(performance);
  const [, , ...lines] = table.trim().split('\n');
  return lines.flatMap(line => {
    const cells = line.split('|').slice(1, -1);
    const values = cells[column].split(',').map(cell => Number.parseFloat(cell));
    const operation = cells[0].trim().replace(/^the same/, 'list of 5,000');
    return labelsOf(operation, values.length).map((label, i) => ({
      label: label.replace(', JSON, JSON', ', JSON').replace(', JSON, protobuf', ', protobuf'),
      ratio: values[i],
      figure: `${values[i]} times`,
      isLessBetter,
    }));
  });
}
