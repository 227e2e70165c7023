import { Refusal } from '../../model/refusal.js';

/**
 * The 400 of a body that cannot be parsed or is not an object, so that its kind is unknown. Callers that expect an
 * object of a certain kind add its name to the message.
 */
export class UnreadableBody extends Refusal {
  /** `syntaxError`: the syntax error, if the text could not be parsed. */
  constructor(
    message: string,
    readonly syntaxError?: string,
  ) {
    super('BadRequest', message);
  }
}
