import type { JsonObject } from '../../../core/model/object.js';
import { readJson } from '../../../core/model/text/jsonText.js';
import { AGGREGATED_DOCUMENT_BYTES, AGGREGATED_DOCUMENT_MS } from '../../../core/limits.js';
import type { Aggregation } from './aggregation.js';
import type { AggregatedVersion } from './apiServices.js';

/** A document of another server, with its media type. */
export interface OtherDocument {
  readonly type: string;
  readonly document: JsonObject;
}

/** Gets a JSON document from the server of a version; undefined if the server has none, or does not answer. */
export async function documentOf(
  aggregation: Pick<Aggregation, 'get'>,
  version: AggregatedVersion,
  path: string,
  accept = 'application/json',
): Promise<OtherDocument | undefined> {
  try {
    const { status, headers, body } = await aggregation.get(version, path, {
      headers: { accept },
      timeoutMs: AGGREGATED_DOCUMENT_MS,
      maxBytes: AGGREGATED_DOCUMENT_BYTES,
    });
    if (status !== 200) return undefined;
    const document = readJson(body);
    if (typeof document !== 'object' || document === null || Array.isArray(document)) return undefined;
    return { type: headers['content-type'] ?? '', document: document as JsonObject };
  } catch {
    // The previous document is shown instead.
    return undefined;
  }
}
