/** What the server and every service of the product store, whether or not it is mounted here. */
import { dataModel as ferryhook } from '@strongroom/ferryhook/data-model'
import { dataModel as formBridge } from '@strongroom/form-bridge/data-model'
import { dataModel as keyStore } from '@strongroom/key-store/data-model'
import type { DataModel } from '@strongroom/kit/data-model'
import type { Table } from '@strongroom/kit/table'
import { dataModel as sealed } from '@strongroom/sealed/data-model'
import { dataModel as twoKey } from '@strongroom/two-key/data-model'
import { dataModel as server } from './data-model.ts'

export const dataModels: readonly DataModel[] = [
  server,
  sealed,
  ferryhook,
  formBridge,
  keyStore,
  twoKey,
]

/** All tables of the product: the server's own and those of its services. */
export const everyTable: readonly Table[] = [
  ...new Set(dataModels.flatMap(({ entities }) => entities.map(({ table }) => table))),
]
