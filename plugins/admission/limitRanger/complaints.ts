import { compareQuantities, formatQuantity, type Quantity } from '../../../core/model/quantity.js';
import type { Amounts } from './amounts.js';

/** The faults of amounts that must not be below `least`. */
export function belowMinimum(
  type: string,
  name: string,
  least: Quantity,
  requests: Amounts,
  limits: Amounts,
): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  if (!request) return [`${rule}.  No request is specified`];
  if (compareQuantities(request, least) < 0) return [`${rule}, but request is ${formatQuantity(request)}`];
  return limit && compareQuantities(limit, least) < 0 ? [`${rule}, but limit is ${formatQuantity(limit)}`] : [];
}

/** The faults of requests that must not be above `most`. */
export function requestAboveMaximum(type: string, name: string, most: Quantity, requests: Amounts): string[] {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (!request) return [`${rule}.  No request is specified`];
  return compareQuantities(request, most) > 0 ? [`${rule}, but request is ${formatQuantity(request)}`] : [];
}

/** The faults of amounts that must not be above `most`. */
export function aboveMaximum(type: string, name: string, most: Quantity, requests: Amounts, limits: Amounts): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (!limit) return [`${rule}.  No limit is specified`];
  if (compareQuantities(limit, most) > 0) return [`${rule}, but limit is ${formatQuantity(limit)}`];
  return request && compareQuantities(request, most) > 0 ? [`${rule}, but request is ${formatQuantity(request)}`] : [];
}

/** The faults of limits that must not be more than `most` times the requests. */
export function aboveRatio(type: string, name: string, most: Quantity, requests: Amounts, limits: Amounts): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
  if (!request?.nano) return [`${rule}, but no request is specified or request is 0`];
  if (!limit?.nano) return [`${rule}, but no limit is specified or limit is 0`];
  const ratio = Number(limit.nano) / Number(request.nano);
  return ratio > Number(most.nano) / 1e9 ? [`${rule}, but provided ratio is ${ratio.toFixed(6)}`] : [];
}
