import type { HttpResponse, TemplatedApp, us_listen_socket } from '@uwsjs/core';

/** A response with what the published types leave out. */
export interface Response extends HttpResponse {
  /** PEM of the peer's certificate, or '' where there is none; it is not verified. */
  getX509Certificate(): string;
}

/** An app with the full form of `listen`. */
export type App = Omit<TemplatedApp, 'listen'> & {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): TemplatedApp;
};
