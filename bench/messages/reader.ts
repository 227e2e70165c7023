/** The other thread: reads messages and reports their number. A text message announces their form: `COUNT/KIND/WAY`. */
import { parentPort } from 'node:worker_threads';
import { keepResult } from '../serialization/time.js';
import { kindsOf, type Way } from './kinds.js';

const port = parentPort!;
let way: Way | undefined;
port.on('message', (data: unknown) => {
  if (typeof data === 'string') {
    const [count, name, which] = data.split('/');
    way = kindsOf(Number(count)).find(kind => kind.name === name)![which as 'cloned' | 'messagePack'];
  } else if (data === null) port.postMessage(null);
  else keepResult(way!.decode(data));
});
