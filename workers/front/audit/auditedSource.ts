import { isIP } from 'node:net';
import type { Exchange } from '../../../core/api/listener.js';

/**
 * The addresses that a request came from: those that proxies state in `X-Forwarded-For` and `X-Real-Ip`, which clients
 * can set to anything, and last that of the connection.
 */
export function sourceAddresses(exchange: Sourced): readonly string[] {
  const { remoteAddress } = exchange;
  const forwarded = (exchange.header('x-forwarded-for') ?? '').split(',').map(part => part.trim());
  const found = forwarded.filter(address => isIP(address) > 0);
  const real = exchange.header('x-real-ip') ?? '';
  if (isIP(real) > 0 && !found.includes(real)) found.push(real);
  if (remoteAddress !== '' && found.at(-1) !== remoteAddress) found.push(remoteAddress);
  return found;
}

/** The parts of an exchange that say where it comes from. */
type Sourced = Pick<Exchange, 'remoteAddress'> & { header(name: string): string | undefined };
