import type { HttpResponse, TemplatedApp, us_listen_socket } from '@uwsjs/core';

/** A response with members that the published types lack. */
export interface Response extends HttpResponse {
  /** PEM of the client's certificate, which is not verified; '' if it has none. */
  getX509Certificate(): string;
}

/** An app with the full form of `listen`, with the type that `filter` has, and with members that the types lack. */
export type App = Omit<TemplatedApp, 'listen' | 'filter'> & {
  /** Calls back with a positive number when a connection opens, and with a negative one when it closes. */
  filter(onChange: (res: HttpResponse, change: number) => void): TemplatedApp;
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): TemplatedApp;
  /** The address of the app: an app of another thread that is given it passes on connections. */
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): TemplatedApp;
};
