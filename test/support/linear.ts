/**
 * Time limit in milliseconds of tests with input for which an algorithm with more than linear time takes longer,
 * although it may end within the limit of other tests. With a linear one, they take about a second.
 */
export const LINEAR_MS = 20_000;
