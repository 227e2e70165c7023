/**
 * Baselines: the minimal code that does the same work. A separate process, which runs one task that its parent sends.
 */
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { HttpRequest, HttpResponse, TemplatedApp } from '@uwsjs/core';
import { loadUws } from '../../plugins/listener/uwsBinary.js';
import type { BaselineReply, BaselineTask } from './tasks.js';

const reply = (message: BaselineReply): void => void process.send?.(message);

async function listen(task: { cert?: string; key?: string }, build: (app: TemplatedApp) => void): Promise<void> {
  const uws = await loadUws();
  const app = task.cert && task.key ? uws.SSLApp({ cert_file_name: task.cert, key_file_name: task.key }) : uws.App();
  build(app);
  app.listen('127.0.0.1', 0, socket => {
    if (socket) reply({ is: 'listening', port: uws.us_socket_local_port(socket) });
  });
}

/** Answers every request with the same bytes. */
function bare(app: TemplatedApp, bytes: number): void {
  const body = Buffer.alloc(bytes, 'x');
  app.any('/*', res => {
    res.cork(() => {
      res.writeHeader('content-type', 'application/json');
      res.end(body);
    });
  });
}

/** Sends the writes of a client to every watcher, each event separately. */
function broadcast(app: TemplatedApp): void {
  const watchers = new Set<HttpResponse>();
  app.get('/*', res => {
    res.onAborted(() => void watchers.delete(res));
    res.cork(() => void res.writeHeader('content-type', 'application/json').write(''));
    watchers.add(res);
  });
  app.put('/*', (res: HttpResponse, _request: HttpRequest) => {
    const parts: Buffer[] = [];
    let aborted = false;
    res.onAborted(() => {
      aborted = true;
    });
    res.onData((part, last) => {
      parts.push(Buffer.from(Buffer.from(part)));
      if (!last || aborted) return;
      const event = Buffer.concat([...parts, Buffer.from('\n')]);
      for (const watcher of watchers) watcher.cork(() => void watcher.write(event));
      res.cork(() => void res.end('{}'));
    });
  });
}

interface Database {
  ready(): Promise<void>;
  write(): { tryPut(key: Buffer, value: Buffer): void; flush(): Promise<void>; destroy(): void };
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Writes durable batches of `batch` values, one after the other, which the library makes durable with a flush. */
async function batches(task: { dir: string; batch: number; bytes: number; ms: number }): Promise<void> {
  const Library = createRequire(import.meta.url)('rocksdb') as new (path: string) => Database;
  const database = new Library(task.dir);
  await database.ready();
  const value = Buffer.alloc(task.bytes, 'x');
  const began = performance.now();
  let written = 0;
  const cpu = process.cpuUsage();
  while (performance.now() - began < task.ms) {
    const batch = database.write();
    for (let i = 0; i < task.batch; i++) batch.tryPut(Buffer.from(`k${String(written++).padStart(12, '0')}`), value);
    await batch.flush();
    batch.destroy();
    await database.flush();
  }
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - began) / 1000;
  await database.close();
  rmSync(task.dir, { recursive: true, force: true });
  reply({ is: 'done', perSecond: written / seconds, user: user / written, system: system / written });
}

async function run(task: BaselineTask): Promise<void> {
  switch (task.is) {
    case 'bare':
      return listen(task, app => bare(app, task.bytes));
    case 'broadcast':
      return listen(task, broadcast);
    case 'batches':
      return batches(task);
  }
}

process.once('message', (task: BaselineTask) => void run(task));
process.on('disconnect', () => process.exit(0));
