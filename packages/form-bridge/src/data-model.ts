/** What Form-Bridge stores and who may touch it, for docs/data-model.md and the IAM policies. */
import type { DataModel } from '@strongroom/kit/data-model'
import { accessPatterns } from './data-model/access-patterns.ts'
import { departures } from './data-model/departures.ts'
import { entities } from './data-model/entities.ts'
import { functions } from './data-model/functions.ts'

export const dataModel: DataModel = {
  service: 'Form-Bridge',
  entities,
  patterns: accessPatterns,
  functions,
  departures,
}
