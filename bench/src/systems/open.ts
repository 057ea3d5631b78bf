// Opens a system by its name.

import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { openEngine } from '@strongroom/engine/engine'
import { embedded } from '@strongroom/engine/wire/sdk'
import type { System } from '../cases.ts'
import type { Sample } from '../data.ts'
import { engineSystem } from './engine.ts'
import { lmdbSystem } from './lmdb.ts'
import { sdkCalls, sdkLoad } from './sdk.ts'
import { type ServerName, serverSystem } from './servers.ts'

export type SystemName = 'engine' | 'lmdb' | 'engine-sdk' | ServerName

/** Undefined if the system is not installed here. */
export async function openSystem(
  name: SystemName,
  directory: string,
  sample: Sample,
): Promise<System | undefined> {
  switch (name) {
    case 'engine':
      return engineSystem(directory, sample)
    case 'lmdb':
      return lmdbSystem(directory, sample)
    case 'engine-sdk':
      return embeddedSystem(directory, sample)
    default:
      return serverSystem(name, directory, sample)
  }
}

async function embeddedSystem(directory: string, sample: Sample): Promise<System> {
  const engine = await openEngine({ directory })
  const client = new DynamoDBClient({ ...embedded(engine) })
  return {
    calls: sdkCalls(client, sample),
    load: (count) => sdkLoad(client, count),
    close: () => engine.close(),
  }
}
