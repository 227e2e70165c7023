import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../core/api/point.js';
import { parseConfig, loadSettings } from '../../core/command/config.js';
import { helpText } from '../../core/command/help.js';
import { OPTIONS } from '../../core/command/options.js';
import { DEFAULTS } from '../../core/server/settings.js';

const folder = mkdtempSync(join(tmpdir(), 'capstan-command-'));
const file = (name: string, text = ''): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const refusal = (...args: string[]): string => {
  try {
    loadSettings(args);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('accepted');
};

describe('flags of serve', () => {
  it('have defaults', () => {
    expect(loadSettings([])).toEqual(DEFAULTS);
  });

  it('are accepted with = and with a space, and values of repeated ones are combined', () => {
    const settings = loadSettings([
      '--secure-port=0',
      '--data-dir',
      'x',
      '--tls-san=a',
      '--tls-san',
      'b,c',
      '-v',
      '2',
      '--anonymous-auth=false',
    ]);
    expect(settings).toMatchObject({
      port: 0,
      dataDir: 'x',
      tlsSan: ['a', 'b', 'c'],
      verbosity: 2,
      anonymousAuth: false,
    });
    expect(loadSettings(['-v3', '--anonymous-auth', '--naming=kubernetes'])).toMatchObject({
      verbosity: 3,
      anonymousAuth: true,
    });
    expect(loadSettings(['--shutdown-delay-duration=1m30s', '--livez-grace-period', '250ms'])).toMatchObject({
      shutdownDelayDuration: 90_000,
      livezGracePeriod: 250,
    });
    expect(loadSettings(['--show-hidden-metrics-for-version=1.31']).showHiddenMetricsForVersion).toBe('1.31');
    expect(() => loadSettings(['--show-hidden-metrics-for-version=1.30'])).toThrow(
      '--show-hidden-metrics-for-version: must be 1.31, the release before this one, or be omitted',
    );
    expect(loadSettings(['--authorization-mode=RBAC,AlwaysAllow']).authorizationMode).toEqual(['RBAC', 'AlwaysAllow']);
    expect(loadSettings(['--authorization-mode=Node', '--authorization-mode=RBAC']).authorizationMode).toEqual([
      'Node',
      'RBAC',
    ]);
  });

  it.each([
    ['1h5us', 3_600_000.005],
    ['+2h', 7_200_000],
    ['.5m', 30_000],
    ['1.s', 1000],
    ['3\u00b5s', 0.003],
    ['3\u03bcs', 0.003],
    ['2000000ns', 2],
  ])('accept the duration %s', (text, milliseconds) => {
    expect(loadSettings([`--service-account-max-token-expiration=${text}`])).toMatchObject({
      serviceAccountMaxTokenExpiration: milliseconds,
    });
  });

  it.each(['.h', '1h.', '-1h', '+', '1', '1d'])('refuse the duration %j', text => {
    expect(refusal(`--history=${text}`)).toBe(
      `--history: must be a duration such as 30s or 1m30s, not ${JSON.stringify(text)}`,
    );
  });

  it.each<[string, [number, number]]>([
    ['30000-30010', [30000, 30010]],
    ['30000+10', [30000, 30010]],
    ['30000', [30000, 30000]],
  ])('accept the range of ports %s', (text, ports) => {
    expect(loadSettings([`--service-node-port-range=${text}`]).serviceNodePortRange).toEqual(ports);
  });

  it("accept all of upstream's words for true and false", () => {
    for (const text of ['1', 't', 'T', 'TRUE', 'true', 'True'])
      expect(loadSettings([`--anonymous-auth=${text}`]).anonymousAuth).toBe(true);
    for (const text of ['0', 'f', 'F', 'FALSE', 'false', 'False'])
      expect(loadSettings([`--anonymous-auth=${text}`]).anonymousAuth).toBe(false);
    expect(refusal('--anonymous-auth=yes')).toBe('--anonymous-auth: must be true or false, not "yes"');
  });

  it.each([
    [['--port=1'], '--port: unknown flag; did you mean --secure-port?'],
    [['--data-dri=x'], '--data-dri: unknown flag; did you mean --data-dir?'],
    [['--zzzzzzzzz'], '--zzzzzzzzz: unknown flag; capstan --help lists them'],
    [['--secure-port=70000'], '--secure-port: must be a port between 0 and 65535, not "70000"'],
    [['--secure-port'], '--secure-port: needs a value: --secure-port=PORT'],
    [['--naming=klingon'], '--naming: must be neutral or kubernetes, not "klingon"'],
    [['--data-dir=a', '--data-dir=b'], '--data-dir: given twice: omit one of them'],
    [
      ['--service-node-port-range=1-2', '--service-node-port-range=3-4'],
      '--service-node-port-range: given twice: omit one of them',
    ],
    [['somewhere'], 'somewhere: unexpected argument; flags are given as --name=value'],
    [
      ['--http-port=0', '--bind-address=0.0.0.0'],
      '--http-port: plain HTTP is for loopback addresses only: omit it, or use --bind-address=127.0.0.1',
    ],
    [['--http-port=6443'], '--http-port: is the same as --secure-port; choose another'],
    [['--token-auth-file=/nowhere/tokens.csv'], '--token-auth-file: there is no file /nowhere/tokens.csv'],
    [['--encryption-provider-config=/'], '--encryption-provider-config: / is a directory: name a file'],
    [
      ['--service-cluster-ip-range=10.0.0.0/16,10.1.0.0/16'],
      '--service-cluster-ip-range: must be one network, or an IPv4 and an IPv6 network',
    ],
    [
      ['--service-cluster-ip-range=10.0.0.0'],
      '--service-cluster-ip-range: must be a network such as 10.0.0.0/16 or fd00::/112, not "10.0.0.0"',
    ],
    [
      ['--service-cluster-ip-range=fd00::/64'],
      '--service-cluster-ip-range: fd00::/64: the prefix of an IPv6 network must have 108 to 125 bits',
    ],
    [
      ['--service-node-port-range=30000-29999'],
      '--service-node-port-range: must be a range of ports such as 30000-32767, not "30000-29999"',
    ],
    [
      ['--shutdown-delay-duration=soon'],
      '--shutdown-delay-duration: must be a duration such as 30s or 1m30s, not "soon"',
    ],
  ])('refuse %j in one line with the flag and a hint', (args, message) => {
    expect(refusal(...args)).toBe(message);
  });

  it('refuse anything else with a ConfigError, never another error', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom(...[...OPTIONS.keys()].map(name => `--${name}`))), {
          maxLength: 6,
        }),
        args => {
          try {
            loadSettings(args);
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigError);
          }
        },
      ),
    );
  });

  it('are all in the help', () => {
    for (const name of OPTIONS.keys()) expect(helpText()).toContain(name.length === 1 ? `-${name} ` : `--${name} `);
  });
});

describe('the configuration file', () => {
  it('has the same settings; flags have priority; plugin paths are relative to it', () => {
    const path = file(
      'good.yaml',
      'securePort: 7000\nnaming: kubernetes\ntlsSan: [a]\nplugins:\n- use: ./own.js\n  config: {a: 1}\n- use: package\n',
    );
    mkdirSync(join(folder, 'node_modules/package'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/package/index.js'), '');
    const settings = loadSettings(['--config', path, '--secure-port=7001']);
    expect(settings).toMatchObject({ port: 7001, naming: 'kubernetes', tlsSan: ['a'] });
    expect(settings.plugins).toEqual([
      { use: pathToFileURL(join(folder, 'own.js')).href, config: { a: 1 } },
      { use: pathToFileURL(join(realpathSync(folder), 'node_modules/package/index.js')).href },
    ]);
  });

  it.each([
    ['securePort: many', 'securePort: must be a port between 0 and 65535, not "many"'],
    ['secure-port: 1', 'secure-port: unknown setting; did you mean securePort?'],
    ['port: 1', 'port: unknown setting; did you mean securePort?'],
    ['securPort: 1', 'securPort: unknown setting; did you mean securePort?'],
    ['plugin: []', 'plugin: unknown setting; did you mean plugins?'],
    [
      'somethingElseAltogether: 1',
      'somethingElseAltogether: unknown setting; they are named like the flags, in camelCase',
    ],
    ['tlsSan: [a, ""]', 'tlsSan[1]: must be a non-empty text'],
    ['plugins: [{config: {}}]', 'plugins[0].use: must name a package or a path'],
    [
      'plugins: [{use: a, with: b}]',
      'plugins[0].with: unknown field; a plugin has use, config, timeout, failurePolicy',
    ],
    ['- a', '--config: must be a YAML mapping of settings'],
  ])('is refused for %j with the path of the field', (yaml, message) => {
    expect(() => parseConfig(yaml, folder)).toThrow(message);
  });

  it('that cannot be read or is not YAML is refused', () => {
    expect(refusal('--config=/nowhere/x.yaml')).toBe(
      '--config: cannot read /nowhere/x.yaml: ENOENT; name a file that exists and may be read',
    );
    expect(refusal('--config', file('two.yaml', 'history: 1m\n---\nhistory: 2m\n'))).toBe(
      '--config: has several documents: it must be one mapping of settings',
    );
    expect(refusal('--config', file('bad.yaml', 'a: [1'))).toContain('--config: ');
  });
});
