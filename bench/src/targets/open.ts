// Opens a target by its name.

import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { openEngine } from '@strongroom/engine/engine'
import { embedded } from '@strongroom/engine/wire/sdk'
import type { Target } from '../cases.ts'
import type { Sample } from '../data.ts'
import { engineTarget } from './engine.ts'
import { lmdbTarget } from './lmdb.ts'
import { sdkCalls, sdkLoad } from './sdk.ts'
import { type ServerName, serverTarget } from './servers.ts'

export type TargetName = 'engine' | 'lmdb' | 'engine-sdk' | ServerName

/** Undefined if the target is not installed here. */
export async function openTarget(
  name: TargetName,
  directory: string,
  sample: Sample,
): Promise<Target | undefined> {
  switch (name) {
    case 'engine':
      return engineTarget(directory, sample)
    case 'lmdb':
      return lmdbTarget(directory, sample)
    case 'engine-sdk':
      return embeddedTarget(directory, sample)
    default:
      return serverTarget(name, directory, sample)
  }
}

async function embeddedTarget(directory: string, sample: Sample): Promise<Target> {
  const engine = await openEngine({ directory })
  const client = new DynamoDBClient({ ...embedded(engine) })
  return {
    calls: sdkCalls(client, sample),
    load: (count) => sdkLoad(client, count),
    close: () => engine.close(),
  }
}
