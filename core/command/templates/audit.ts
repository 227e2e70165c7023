import { commonTests, MAPS, type PointTemplate, testHead, textSettings } from './shared.js';

/** A file of deletions. */
export const auditSink: PointTemplate = {
  config: '{ "file": "deletions.log" }',
  source: name => `import { createWriteStream } from 'node:fs';
import { type AuditEvent, auditSink, ConfigError, definePlugin, type Plugin } from 'capstan/api';

${textSettings('the file to which lines are appended', { file: 'must be the name of a file' })}

/** Who has deleted what, and when. */
const lineOf = ({ stageTimestamp, user, requestURI }: AuditEvent): string =>
  \`\${JSON.stringify([stageTimestamp, user.username ?? '', requestURI])}\\n\`;

/** Writes a line for each object that was deleted. The audit policy of the server must select deletes. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ file }) => [
    auditSink.of(host => {
      const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
      stream.on('error', error => host.log.error({ file, error: error.message }, 'writing deletions failed'));
      return {
        write(event) {
          const { verb, stage, responseStatus } = event;
          if (verb === 'delete' && stage === 'ResponseComplete' && responseStatus?.code === 200)
            stream.write(lineOf(event));
        },
        close: () => new Promise(resolve => stream.end(resolve)),
      };
    }),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('auditSink', 'auditEvent, auditSinkConformance, fakeHost, partsOf, startTestServer').replace(
    "import { test } from 'node:test';\n",
    `import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
`,
  )}
const directory = mkdtempSync(join(tmpdir(), 'audit-'));
after(() => rmSync(directory, { recursive: true }));
const config = { file: join(directory, 'deletions.log') };
const make = async () => (await partsOf(plugin, config, auditSink, fakeHost('front').host))[0]!;

for (const { name, run } of auditSinkConformance({ make })) test(name, run);

test('writes deletes that were done', async () => {
  const sink = await make();
  await sink.write(auditEvent({ verb: 'get' }));
  await sink.write(auditEvent({ verb: 'delete', responseStatus: { metadata: {}, code: 404 } }));
  await sink.write(auditEvent({ verb: 'delete', requestURI: '/api/v1/namespaces/gone' }));
  await sink.close?.();
  assert.deepEqual(JSON.parse(readFileSync(config.file, 'utf8')).slice(1), ['ann', '/api/v1/namespaces/gone']);
});
${commonTests('{}', 'file: must be the name of a file')}
test('writes the deletes of a server', async () => {
  const auditPolicyFile = join(directory, 'policy.yaml');
  writeFileSync(
    auditPolicyFile,
    'apiVersion: audit.orchestrator.io/v1\\nkind: Policy\\nrules: [{ level: Metadata, verbs: [delete] }]\\n',
  );
  const file = join(directory, 'of-a-server.log');
  const server = await startTestServer({ auditPolicyFile, plugins: [{ use, config: { file } }] });
  try {
    await server.request('POST', '${MAPS}', { body: { metadata: { name: 'sample' } } });
    await server.request('DELETE', '${MAPS}/sample');
  } finally {
    await server.close();
  }
  assert.ok(readFileSync(file, 'utf8').includes('"${MAPS}/sample"'));
});
`,
};
