/** DescribeLimits and DescribeEndpoints. */
import { DescribeEndpointsCommand, DescribeLimitsCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { testUnless } from './harness.ts'
import type { Target } from './target.ts'

export function account(target: Target): void {
  describe('the account', () => {
    test('has limits', async () => {
      const { $metadata, ...limits } = await target.client.send(new DescribeLimitsCommand({}))
      expect($metadata.httpStatusCode).toBe(200)
      expect(limits).toEqual({
        AccountMaxReadCapacityUnits: expect.any(Number),
        AccountMaxWriteCapacityUnits: expect.any(Number),
        TableMaxReadCapacityUnits: expect.any(Number),
        TableMaxWriteCapacityUnits: expect.any(Number),
      })
    })

    testUnless(target, 'endpoints', 'has an endpoint', async () => {
      const { Endpoints } = await target.client.send(new DescribeEndpointsCommand({}))
      expect(Endpoints).toEqual([
        { Address: expect.any(String), CachePeriodInMinutes: expect.any(Number) },
      ])
    })

    const { endpoint } = target
    if (endpoint) {
      testUnless(target, 'endpoints', 'has the endpoint that the client uses', async () => {
        const { Endpoints } = await target.client.send(new DescribeEndpointsCommand({}))
        expect(Endpoints?.[0]?.Address).toBe(new URL(endpoint).host)
      })
    }
  })
}
