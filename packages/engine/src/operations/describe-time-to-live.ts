/** DescribeTimeToLive. */
import type { DescribeTimeToLiveOutput, TableInput } from '../db.ts'
import { namedTable } from '../validation/names.ts'
import { structure, tableName } from '../validation/shapes.ts'
import type { Operation } from './operation.ts'

export const describeTimeToLive: Operation<TableInput, DescribeTimeToLiveOutput> = {
  name: 'DescribeTimeToLive',
  input: structure('DescribeTimeToLiveInput', { 'TableName!': tableName }),

  run({ storage }, input) {
    const { ttl } = namedTable(storage, input.TableName)
    return {
      TimeToLiveDescription: ttl
        ? { TimeToLiveStatus: 'ENABLED', AttributeName: ttl.attribute }
        : { TimeToLiveStatus: 'DISABLED' },
    }
  },
}
