/** DescribeEndpoints returns the address that the client is already using. */
import type { DescribeEndpointsOutput } from '../db.ts'
import { structure } from '../validation/shapes.ts'
import type { Operation } from './operation.ts'

export const describeEndpoints: Operation<object, DescribeEndpointsOutput> = {
  name: 'DescribeEndpoints',
  input: structure('DescribeEndpointsRequest', {}),

  run: ({ region }) => ({
    Endpoints: [{ Address: `dynamodb.${region}.amazonaws.com`, CachePeriodInMinutes: 1440 }],
  }),
}
