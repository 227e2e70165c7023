import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { SiteAnswer, SiteRequest } from '../../core/api/index.js';
import { acceptsGzip, matchesEtag } from '../../core/model/text/httpHeaders.js';
import { PAGE_HEADERS } from './headers.js';

/** A file of the app, as it is served. */
interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Uint8Array;
  readonly compressed: Uint8Array;
  /** Whether its name changes with its content. */
  readonly isImmutable: boolean;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.txt', 'text/plain; charset=utf-8'],
]);
const compress = promisify(gzip);

/** Reads a file and compresses it, in another thread. */
async function assetOf(folder: string, name: string): Promise<Asset> {
  const plain = readFileSync(join(folder, name));
  return {
    type: TYPES.get(extname(name)) ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    compressed: await compress(plain, { level: 9 }),
    isImmutable: name.startsWith('assets/'),
  };
}

/**
 * The files of the app, which are read and compressed when the first one is requested: a server whose console nobody
 * opens does not wait for them.
 */
export class Assets {
  #files: Promise<ReadonlyMap<string, Asset>> | undefined;

  constructor(readonly folder: string) {}

  /**
   * Answers a GET or HEAD by the path below that of the console. Paths of pages, which have no file, get the page of
   * the app: it knows its pages by their paths. Undefined for a file that does not exist.
   */
  async answer(path: string, request: Pick<SiteRequest, 'header'>): Promise<SiteAnswer | undefined> {
    const files = await (this.#files ??= this.#read());
    const isPage = !path.startsWith('assets/') && !files.has(path);
    const file = files.get(isPage ? 'index.html' : path);
    if (!file) return undefined;
    const headers = [
      ...PAGE_HEADERS,
      ['content-type', file.type],
      ['etag', file.etag],
      ['vary', 'accept-encoding'],
      ['cache-control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'],
    ] as const;
    if (matchesEtag(request.header('if-none-match'), file.etag))
      return { status: 304, headers, body: new Uint8Array() };
    if (!acceptsGzip(request.header('accept-encoding'))) return { status: 200, headers, body: file.plain };
    return { status: 200, headers: [...headers, ['content-encoding', 'gzip']], body: file.compressed };
  }

  async #read(): Promise<ReadonlyMap<string, Asset>> {
    const names = readdirSync(this.folder, { recursive: true, encoding: 'utf8' })
      .map(name => name.replaceAll('\\', '/'))
      .filter(name => extname(name) !== '');
    return new Map(await Promise.all(names.map(async name => [name, await assetOf(this.folder, name)] as const)));
  }
}
