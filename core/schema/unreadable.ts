import { Refusal } from '../model/refusal.js';

/**
 * The 400 of a body that cannot be parsed or is not an object, so that its kind is unknown. Callers that expect an
 * object of a certain kind add its name to the message.
 */
export class UnreadableBody extends Refusal {
  constructor(message: string) {
    super('BadRequest', message);
  }
}
