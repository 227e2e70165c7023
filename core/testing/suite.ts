/** One test of a conformance suite: it rejects if the behaviour is not as promised. */
export interface ConformanceTest {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The functions with which a suite is written. */
export interface SuiteBuilder {
  /** Groups tests under a title. */
  describe(title: string, define: () => void): void;
  it(title: string, run: () => unknown): void;
  /** Runs before, and after, each test of the suite. */
  beforeEach(run: () => unknown): void;
  afterEach(run: () => unknown): void;
}

/** The tests that `define` adds, as a list that any test runner can run. */
export function suite(define: (builder: SuiteBuilder) => void): readonly ConformanceTest[] {
  const tests: ConformanceTest[] = [];
  const titles: string[] = [];
  const before: (() => unknown)[] = [];
  const after: (() => unknown)[] = [];
  const runTest = async (run: () => unknown): Promise<void> => {
    for (const one of before) await one();
    try {
      await run();
    } finally {
      for (const one of after.toReversed()) await one();
    }
  };
  define({
    describe(title, inner) {
      titles.push(title);
      inner();
      titles.pop();
    },
    it: (title, run) => void tests.push({ name: [...titles, title].join(': '), run: () => runTest(run) }),
    beforeEach: run => void before.push(run),
    afterEach: run => void after.push(run),
  });
  return tests;
}
