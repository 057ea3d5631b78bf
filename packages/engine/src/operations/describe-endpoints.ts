/** DescribeEndpoints returns the address that the client is already using; in process there is none. */
import type { DescribeEndpointsOutput } from '../db.ts'
import { structure } from '../validation/shapes.ts'
import type { Operation } from './operation.ts'

export const describeEndpoints: Operation<object, DescribeEndpointsOutput> = {
  name: 'DescribeEndpoints',
  input: structure('DescribeEndpointsRequest', {}),

  run: ({ region, address = `dynamodb.${region}.amazonaws.com` }) => ({
    Endpoints: [{ Address: address, CachePeriodInMinutes: 1440 }],
  }),
}
