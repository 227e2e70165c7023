import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import 'reflect-metadata';
import { X509Certificate as Parsed } from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { ensurePki } from '../../core/services/pki/index.js';
import * as earlier from './earlierCa.js';

const DAY = 24 * 60 * 60 * 1000;
const START = Date.parse('2026-03-01T00:00:00Z');
const fresh = (): string => mkdtempSync(join(tmpdir(), 'capstan-pki-'));
const make = (dataDir: string, now = START, sans: string[] = [], naming = namingOf('neutral')) =>
  ensurePki({ dataDir, sans, naming, now: () => now });
const read = (file: string): string => readFileSync(file, 'utf8');

describe('certificates of the server', () => {
  it('are signed by the CA of the server, for their use, and name the server', async () => {
    const pki = await make(fresh(), START, ['example.test', '192.0.2.7', '2001:db8::7']);
    const [ca, server, admin] = [pki.caFile, pki.certFile, pki.adminCertFile].map(
      file => new X509Certificate(read(file)),
    );
    expect(ca!.ca).toBe(true);
    for (const leaf of [server!, admin!]) {
      expect(leaf.checkIssued(ca!)).toBe(true);
      expect(leaf.verify(ca!.publicKey)).toBe(true);
    }
    expect(server!.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(admin!.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(admin!.subject.split('\n').sort()).toEqual(['CN=orchestrator-admin', 'O=system:masters']);
    for (const name of ['localhost', 'orchestrator.default.svc', 'example.test'])
      expect(server!.checkHost(name)).toBeDefined();
    for (const address of ['127.0.0.1', '::1', '10.96.0.1', '192.0.2.7', '2001:db8::7'])
      expect(server!.checkIP(address)).toBeDefined();
  });

  it('have keys in a format that names their algorithm, which some clients need', async () => {
    const pki = await make(fresh());
    expect(read(pki.adminCertFile.replace(/crt$/, 'key'))).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
  });

  it('have subjects in the naming of the server', async () => {
    const pki = await make(fresh(), START, [], namingOf('kubernetes'));
    expect(new X509Certificate(read(pki.certFile)).checkHost('kubernetes.default.svc')).toBeDefined();
    expect(new X509Certificate(read(pki.adminCertFile)).subject).toContain('CN=kube-admin');
  });

  it('are kept until a third of their lifetime is left', async () => {
    const dataDir = fresh();
    const first = read((await make(dataDir)).certFile);
    expect(read((await make(dataDir, START + 200 * DAY)).certFile)).toBe(first);
    const renewed = await make(dataDir, START + 300 * DAY);
    expect(read(renewed.certFile)).not.toBe(first);
    expect(new X509Certificate(read(renewed.certFile)).verify(new X509Certificate(renewed.caPem).publicKey)).toBe(true);
  });

  it('are renewed for an additional name, with the same CA', async () => {
    const dataDir = fresh();
    const before = await make(dataDir);
    const after = await make(dataDir, START, ['new.test']);
    expect(after.caPem).toBe(before.caPem);
    expect(new X509Certificate(read(after.certFile)).checkHost('new.test')).toBeDefined();
  });

  it('can be signed by a CA of an earlier build, whose name is copied byte by byte', async () => {
    const dataDir = fresh();
    mkdirSync(join(dataDir, 'pki'));
    writeFileSync(join(dataDir, 'pki', 'ca.crt'), earlier.certificate);
    writeFileSync(join(dataDir, 'pki', 'ca.key'), earlier.key);
    const pki = await make(dataDir);
    expect(pki.caPem).toBe(earlier.certificate);
    const ca = new Parsed(pki.caPem);
    for (const file of [pki.certFile, pki.adminCertFile]) {
      expect(new X509Certificate(read(file)).checkIssued(new X509Certificate(pki.caPem))).toBe(true);
      const leaf = new Parsed(read(file));
      expect(Buffer.from(leaf.issuerName.toArrayBuffer())).toEqual(Buffer.from(ca.subjectName.toArrayBuffer()));
      expect(await leaf.verify({ publicKey: ca.publicKey, date: new Date(START) })).toBe(true);
    }
  });

  it('contain addresses in any notation, and are kept for equal addresses', async () => {
    const dataDir = fresh();
    const written = ['::ffff:192.0.2.7', '2001:DB8:0:0::8', 'fe80::1%eth0', '::'];
    const { certFile } = await make(dataDir, START, written);
    const first = read(certFile);
    const certificate = new X509Certificate(first);
    for (const address of ['::ffff:192.0.2.7', '2001:db8::8', 'fe80::1'])
      expect(certificate.checkIP(address)).toBeDefined();
    await make(dataDir, START, written);
    expect(read(certFile)).toBe(first);
  });

  it('are loaded at a later start without the library that created them', () => {
    const built = (path: string): string => JSON.stringify(resolve('dist', path));
    const options = `{ dataDir: ${JSON.stringify(fresh())}, sans: [], naming: namingOf('neutral'), now: Date.now }`;
    const script = `
      const { ensurePki } = await import(${built('core/services/pki/index.js')});
      const { namingOf } = await import(${built('core/naming.js')});
      await ensurePki(${options});
      console.log('metadata' in Reflect);`;
    const start = (): string =>
      execFileSync(process.execPath, ['-e', `(async () => {${script}})()`], { encoding: 'utf8' }).trim();
    expect([start(), start()]).toEqual(['true', 'false']);
  });

  it('have private files that only the owner can read', async () => {
    const pki = await make(fresh());
    const path = pki.kubeconfigPath('https://127.0.0.1:6443');
    for (const file of [pki.keyFile, pki.adminKeyFile, pki.caFile.replace('.crt', '.key'), path])
      expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(read(path)).clusters[0].cluster.server).toBe('https://127.0.0.1:6443');
  });
});
