import { describe, expect, test } from 'vitest';
import { addressOf, type ServiceObjects } from '../../core/services/aggregation/serviceAddress.js';

const target = { namespace: 'shop', name: 'tea', port: 443 };
const clusterIp = { services: {}, routesToEndpoints: false };
const endpoints = { services: {}, routesToEndpoints: true };

/** A service and its endpoints. */
const objectsOf = (spec: object | undefined, subsets?: object[]): ServiceObjects =>
  ({
    service: () => spec && { metadata: { name: 'tea' }, spec },
    endpoints: () => subsets && { metadata: { name: 'tea' }, subsets },
  }) as unknown as ServiceObjects;

describe('the address of a service', () => {
  const ports = [{ name: 'https', port: 443 }];
  const service = { type: 'ClusterIP', clusterIP: 'fd00::7', ports };

  test('is its cluster IP with the port', () => {
    expect(addressOf(target, clusterIp, objectsOf(service))).toBe('[fd00::7]:443');
  });

  test('is its external name', () => {
    const external = { type: 'ExternalName', externalName: 'tea.example.com' };
    expect(addressOf(target, clusterIp, objectsOf(external))).toBe('tea.example.com:443');
    expect(() => addressOf(target, endpoints, objectsOf(external))).toThrow('unsupported service type "ExternalName"');
  });

  test('is one of its ready endpoints with its own port, if requests go to endpoints', () => {
    const subsets = [
      { addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'metrics', port: 9000 }] },
      { notReadyAddresses: [{ ip: '10.0.0.2' }], ports: [{ name: 'https', port: 8443 }] },
      { addresses: [{ ip: '10.0.0.3' }], ports: [{ name: 'https', port: 8444 }] },
    ];
    expect(addressOf(target, endpoints, objectsOf(service, subsets))).toBe('10.0.0.3:8444');
    const without = objectsOf(service, subsets.slice(0, 2));
    expect(() => addressOf(target, endpoints, without)).toThrow('no endpoints available for service "tea"');
  });

  test('is that of the settings, which take precedence over its objects', () => {
    const services = { 'shop/tea': 'https://10.0.0.9:7443', 'shop/tea:444': 'https://10.0.0.9:7444' };
    expect(addressOf(target, { ...clusterIp, services }, objectsOf(undefined))).toBe('10.0.0.9:7443');
    expect(addressOf({ ...target, port: 444 }, { ...endpoints, services }, objectsOf(service))).toBe('10.0.0.9:7444');
  });

  test('is unknown without a service, a port, or a cluster IP', () => {
    expect(() => addressOf(target, clusterIp, objectsOf(undefined))).toThrow('service "tea" not found');
    const other = { ...target, port: 80 };
    expect(() => addressOf(other, clusterIp, objectsOf(service))).toThrow('no service port 80 found for service "tea"');
    const headless = objectsOf({ ...service, clusterIP: 'None' });
    expect(() => addressOf(target, clusterIp, headless)).toThrow('cannot route to service with ClusterIP "None"');
  });
});
