import { LOGGED_CAUSES, LOGGED_CHARACTERS } from '../../limits.js';

const UNREADABLE = 'a value that cannot be shown';

/** The result of `read`, or `otherwise` if it throws: a plugin may have thrown a value that cannot be read. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** The members of an error that are logged; any thrown value may lack them. */
interface Thrown {
  readonly stack?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

const membersOf = (thrown: unknown): Thrown =>
  (typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function' ? (thrown as Thrown) : {};

/** The member if it is a text, otherwise the value itself as a text. */
const textOf = (thrown: unknown, member: 'stack' | 'message'): string =>
  attempt(() => {
    const text = membersOf(thrown)[member];
    return (typeof text === 'string' && text !== '' ? text : String(thrown)).slice(0, LOGGED_CHARACTERS);
  }, UNREADABLE);

const causeOf = (thrown: unknown): unknown => attempt(() => membersOf(thrown).cause, undefined);
/** The errors of an AggregateError, such as those of a connection to each address of a host. */
const errorsOf = (thrown: unknown): readonly unknown[] =>
  attempt(() => {
    const { errors } = membersOf(thrown);
    return Array.isArray(errors) ? errors.slice(0, LOGGED_CAUSES) : [];
  }, []);

/** The stack of a cause without the frames at its end that are also in the stack of its consequence. */
function withoutCommon(stack: string, around: string): string {
  const [lines, others] = [stack.split('\n'), around.split('\n')];
  let common = 0;
  while (/^\s+at /.test(lines.at(-1 - common) ?? '') && lines.at(-1 - common) === others.at(-1 - common)) common++;
  return common === 0
    ? stack
    : `${lines.slice(0, -common).join('\n')}\n    ... and ${common} frames of the error above`;
}

/**
 * Returns the text that is logged for a thrown value: its stack, then those of its causes (`error.cause`) and of the
 * errors of an AggregateError, at most LOGGED_CAUSES.
 */
export function stackOf(thrown: unknown): string {
  const stacks: string[] = [];
  const seen = new Set<unknown>();
  const add = (prefix: string, error: unknown, around = ''): void => {
    if (seen.has(error) || stacks.length > LOGGED_CAUSES) return;
    seen.add(error);
    const stack = textOf(error, 'stack');
    stacks.push(prefix + withoutCommon(stack, around));
    for (const one of errorsOf(error)) add('One of these errors: ', one, stack);
    const cause = causeOf(error);
    if (cause !== undefined) add('Caused by: ', cause, stack);
  };
  add('', thrown);
  return stacks.join('\n').slice(0, LOGGED_CHARACTERS);
}

/** The message of a thrown value and those of its causes on one line: `no database: connect ECONNREFUSED`. */
export function messagesOf(thrown: unknown): string {
  const messages = [textOf(thrown, 'message')];
  const seen = new Set([thrown]);
  for (let error = causeOf(thrown); error !== undefined && !seen.has(error); error = causeOf(error)) {
    if (messages.length > LOGGED_CAUSES) break;
    seen.add(error);
    messages.push(textOf(error, 'message'));
  }
  // Many errors repeat the message of their cause.
  const added = messages.filter((message, i) => !messages.slice(0, i).some(before => before.includes(message)));
  return added.join(': ').slice(0, LOGGED_CHARACTERS);
}
