import type { Log } from '../../core/api/host.js';

/** A record of a log, without the fields of its thread. */
export interface LoggedText {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

/** A log that collects its records instead of writing them. */
export class RecordedLog implements Log {
  readonly records: LoggedText[] = [];
  readonly debug = this.#keep('debug');
  readonly info = this.#keep('info');
  readonly warn = this.#keep('warn');
  readonly error = this.#keep('error');

  #keep(level: keyof Log) {
    return (fields: object, message: string): void => void this.records.push({ level, fields, message });
  }
}
