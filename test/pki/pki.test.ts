import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { ensurePki } from '../../core/pki/index.js';

const DAY = 24 * 60 * 60 * 1000;
const START = Date.parse('2026-03-01T00:00:00Z');
const fresh = (): string => mkdtempSync(join(tmpdir(), 'capstan-pki-'));
const make = (dataDir: string, now = START, sans: string[] = [], naming = namingOf('neutral')) =>
  ensurePki({ dataDir, sans, naming, now: () => now });
const read = (file: string): string => readFileSync(file, 'utf8');

describe('own certificates', () => {
  it('are signed by the own CA, for their use, and name the server', () => {
    const pki = make(fresh(), START, ['example.test', '192.0.2.7', '2001:db8::7']);
    const [ca, server, admin] = [pki.caFile, pki.certFile, pki.adminCertFile].map(file => new X509Certificate(read(file)));
    expect(ca!.ca).toBe(true);
    for (const leaf of [server!, admin!]) {
      expect(leaf.checkIssued(ca!)).toBe(true);
      expect(leaf.verify(ca!.publicKey)).toBe(true);
    }
    expect(server!.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(admin!.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(admin!.subject.split('\n').sort()).toEqual(['CN=orchestrator-admin', 'O=system:masters']);
    for (const name of ['localhost', 'orchestrator.default.svc', 'example.test']) expect(server!.checkHost(name)).toBeDefined();
    for (const address of ['127.0.0.1', '::1', '10.96.0.1', '192.0.2.7', '2001:db8::7'])
      expect(server!.checkIP(address)).toBeDefined();
  });

  it('speak upstream names where the server does', () => {
    const pki = make(fresh(), START, [], namingOf('kubernetes'));
    expect(new X509Certificate(read(pki.certFile)).checkHost('kubernetes.default.svc')).toBeDefined();
    expect(new X509Certificate(read(pki.adminCertFile)).subject).toContain('CN=kube-admin');
  });

  it('stay as they are until a third of their life is left', () => {
    const dataDir = fresh();
    const first = read(make(dataDir).certFile);
    expect(read(make(dataDir, START + 200 * DAY).certFile)).toBe(first);
    const renewed = make(dataDir, START + 300 * DAY);
    expect(read(renewed.certFile)).not.toBe(first);
    expect(new X509Certificate(read(renewed.certFile)).verify(new X509Certificate(renewed.caPem).publicKey)).toBe(true);
  });

  it('are made again for a further name, under the same CA', () => {
    const dataDir = fresh();
    const before = make(dataDir);
    const after = make(dataDir, START, ['new.test']);
    expect(after.caPem).toBe(before.caPem);
    expect(new X509Certificate(read(after.certFile)).checkHost('new.test')).toBeDefined();
  });

  it('keep private files private', () => {
    const pki = make(fresh());
    const path = pki.kubeconfigPath('https://127.0.0.1:6443');
    for (const file of [pki.keyFile, pki.adminKeyFile, pki.caFile.replace('.crt', '.key'), path])
      expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(read(path)).clusters[0].cluster.server).toBe('https://127.0.0.1:6443');
  });
});
