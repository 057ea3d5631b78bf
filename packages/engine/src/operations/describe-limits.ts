/** DescribeLimits: AWS's default quotas. Nothing here limits capacity. */
import type { DescribeLimitsOutput } from '../db.ts'
import { structure } from '../validation/shapes.ts'
import type { Operation } from './operation.ts'

export const describeLimits: Operation<object, DescribeLimitsOutput> = {
  name: 'DescribeLimits',
  input: structure('DescribeLimitsInput', {}),

  run: () => ({
    AccountMaxReadCapacityUnits: 80_000,
    AccountMaxWriteCapacityUnits: 80_000,
    TableMaxReadCapacityUnits: 40_000,
    TableMaxWriteCapacityUnits: 40_000,
  }),
}
