import type { HttpResponse, TemplatedApp, us_listen_socket } from '@uwsjs/core';

/** A response with members that the published types lack. */
export interface Response extends HttpResponse {
  /** PEM of the client's certificate, which is not verified; '' if it has none. */
  getX509Certificate(): string;
}

/** An app with the types that members have in both releases (`uwsBinary.ts`): some are published wrongly. */
export type App = Omit<
  TemplatedApp,
  'listen' | 'filter' | 'getDescriptor' | 'addChildAppDescriptor' | 'removeChildAppDescriptor'
> & {
  /** Calls back with a positive number when a connection opens, and with a negative one when it closes. */
  filter(onChange: (res: HttpResponse, change: number) => void): TemplatedApp;
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): TemplatedApp;
  /** The address of the app. An app of another thread that is given this address passes connections on to it. */
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): TemplatedApp;
  removeChildAppDescriptor(descriptor: number): TemplatedApp;
};
