import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A message of the inspector: an answer, or an event. */
interface Message {
  readonly id?: number;
  readonly result?: { readonly [member: string]: unknown };
  readonly error?: { readonly message: string };
  readonly method?: string;
  readonly params?: { readonly [member: string]: unknown };
}

/** The frames of a thread that is stopped at a breakpoint. */
export interface Paused {
  /** The session of the thread. */
  readonly session: string;
  readonly callFrameId: string;
  readonly functionName: string;
}

type Result = NonNullable<Message['result']>;

/** A debugger, attached to all worker threads of a process by the protocol that Node.js documents. */
export class Inspector {
  readonly paused: Paused[] = [];
  readonly #sessions = new Set<string>();
  readonly #waiting = new Map<number, (message: Message) => void>();
  #ids = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Message));
  }

  /** Connects to the address that a process has printed. Resolves when it is attached to all threads of the process. */
  static async attach(output: string): Promise<Inspector> {
    const socket = new WebSocket(/Debugger listening on (ws:\S+)/.exec(output)![1]!);
    await once(socket, 'open');
    const inspector = new Inspector(socket);
    await inspector.#send('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return inspector;
  }

  /** Sets a breakpoint in all current threads. `lineNumber` counts from zero. Rejects if no thread has the location. */
  async breakAt(url: string, lineNumber: number): Promise<void> {
    let loaded = 0;
    for (const session of this.#sessions) {
      await this.sendTo(session, 'Debugger.enable');
      const { locations } = await this.sendTo(session, 'Debugger.setBreakpointByUrl', { url, lineNumber });
      if ((locations as unknown[]).length > 0) loaded++;
    }
    if (loaded === 0) throw new Error(`no thread has loaded ${url}`);
  }

  /** The value of an expression in the frame where a thread is stopped. */
  async evaluate({ session, callFrameId }: Paused, expression: string): Promise<unknown> {
    const { result } = await this.sendTo(session, 'Debugger.evaluateOnCallFrame', { callFrameId, expression });
    return (result as { readonly value?: unknown }).value;
  }

  /** Calls a method of the inspector of a thread. */
  sendTo(session: string, method: string, params: object = {}): Promise<Result> {
    return this.#request((id, send) => {
      const message = JSON.stringify({ id, method, params });
      send({ id: ++this.#ids, method: 'NodeWorker.sendMessageToWorker', params: { sessionId: session, message } });
    });
  }

  close(): void {
    this.socket.terminate();
  }

  #send(method: string, params: object): Promise<Result> {
    return this.#request((id, send) => send({ id, method, params }));
  }

  #request(post: (id: number, send: (message: object) => void) => void): Promise<Result> {
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result = {}, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      post(id, message => this.socket.send(JSON.stringify(message)));
    });
  }

  #take({ id, method, params, ...answer }: Message, session = ''): void {
    if (id !== undefined) this.#waiting.get(id)?.(answer);
    if (method === 'NodeWorker.attachedToWorker') this.#sessions.add(params!['sessionId'] as string);
    if (method === 'NodeWorker.receivedMessageFromWorker') {
      const { sessionId, message } = params as { readonly sessionId: string; readonly message: string };
      this.#take(JSON.parse(message) as Message, sessionId);
    }
    if (method === 'Debugger.paused') {
      const [frame] = params!['callFrames'] as Omit<Paused, 'session'>[];
      this.paused.push({ ...frame!, session });
    }
  }
}
