import { expect, test } from 'vitest';
import { versionPath } from '../../plugins/controllers/requests.js';

test.each([
  ['', 'v1', '/api/v1'],
  ['apps', 'v1', '/apis/apps/v1'],
  ['tea.example.com', 'v1?watch=true', '/apis/tea.example.com/v1%3Fwatch%3Dtrue'],
])('the resources of the group %j in the version %j are at %s', (group, version, path) => {
  expect(versionPath(group, version)).toBe(path);
});

test.each([
  ['', ''],
  ['', 'v1/secrets'],
  ['apps', 'v1%2fdeployments'],
  ['apps/v1', 'deployments'],
  ['..', 'v1'],
])('there is no path for the group %j and the version %j', (group, version) => {
  expect(versionPath(group, version)).toBeUndefined();
});
