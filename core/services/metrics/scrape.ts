/** Metrics in the text format of Prometheus. */
export interface Scrape {
  readonly contentType: string;
  text(): Promise<string>;
}
