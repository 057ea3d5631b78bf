import type { DataModel } from '@strongroom/kit/data-model'
import { patterns } from './data-model/access-patterns.ts'
import { departures } from './data-model/departures.ts'
import { entities } from './data-model/entities.ts'
import { functions } from './data-model/functions.ts'

export const dataModel: DataModel = {
  service: 'Ferryhook',
  entities,
  patterns,
  functions,
  departures,
}
