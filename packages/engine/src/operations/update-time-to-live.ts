/** UpdateTimeToLive takes effect immediately, so the states ENABLING and DISABLING never occur. */
import type { UpdateTimeToLiveInput } from '../db.ts'
import { validationError } from '../errors.ts'
import { namedTable } from '../validation/names.ts'
import { boolean, string, structure, tableName } from '../validation/shapes.ts'
import type { Operation } from './operation.ts'

export const updateTimeToLive: Operation<UpdateTimeToLiveInput, object> = {
  name: 'UpdateTimeToLive',
  input: structure('UpdateTimeToLiveInput', {
    'TableName!': tableName,
    'TimeToLiveSpecification!': structure('TimeToLiveSpecification', {
      'AttributeName!': string({ min: 1, max: 255 }),
      'Enabled!': boolean,
    }),
  }),

  async run({ storage }, input) {
    const { AttributeName: attribute, Enabled: enabled } = input.TimeToLiveSpecification
    const { ttl, ...table } = namedTable(storage, input.TableName)
    if (ttl && ttl.attribute !== attribute) {
      throw validationError(
        `TimeToLive is active on a different AttributeName: current AttributeName is ${ttl.attribute}`,
      )
    }
    if (enabled && ttl) throw validationError('TimeToLive is already enabled')
    if (!enabled && !ttl) throw validationError('TimeToLive is already disabled')
    await storage.replaceTable(enabled ? { ...table, ttl: { attribute } } : table)
    return { TimeToLiveSpecification: { Enabled: enabled, AttributeName: attribute } }
  },
}
