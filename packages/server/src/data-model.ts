/** What the server's own table holds, as data. */
import type { DataModel } from '@strongroom/kit/data-model'
import { OperatorItem } from '@strongroom/kit/operators'
import { SecretItem } from '@strongroom/kit/secret-versions'
import { serverTable as table } from '@strongroom/kit/server-table'
import { MasterKeyItem, StateItem, VersionItem } from './kms-items.ts'
import { OwnKeyItem } from './own-kms-key.ts'

export const dataModel: DataModel = {
  service: 'Server',
  entities: [
    {
      name: 'Operator',
      table,
      keys: { PK: 'OPERATOR#{name}', SK: 'TOKEN' },
      schema: OperatorItem,
    },
    {
      name: 'Version of a server secret',
      table,
      keys: { PK: 'SECRET#{name}', SK: 'V#{version}' },
      schema: SecretItem,
      lifetime: 'until acceptedUntil, which a newer version sets',
    },
    {
      name: 'Key of the embedded KMS',
      table,
      keys: { PK: 'KMSKEY#{id}', SK: 'STATE' },
      schema: StateItem,
    },
    {
      name: 'Backing key of the embedded KMS',
      table,
      keys: { PK: 'KMSKEY#{id}', SK: 'V#{version}' },
      schema: VersionItem,
    },
    {
      name: 'Own key of the server in the embedded KMS',
      table,
      keys: { PK: 'KMSKEY', SK: 'OWN' },
      schema: OwnKeyItem,
    },
    {
      name: 'Master key that the keys of the embedded KMS belong to',
      table,
      keys: { PK: 'KMSKEY', SK: 'MASTER' },
      schema: MasterKeyItem,
    },
  ],
  patterns: [
    {
      name: 'Know an operator by its token',
      servedBy: 'operators.ts: verify',
      table,
      key: 'GetItem PK = OPERATOR#{name}, SK = TOKEN',
    },
    {
      name: 'Read the versions of a server secret',
      servedBy: 'secret-versions.ts: acceptedOrFirst',
      table,
      key: 'PK = SECRET#{name}',
    },
    {
      name: 'Make a server secret, once',
      servedBy: 'secret-versions.ts: acceptedOrFirst',
      table,
      key: 'PutItem PK = SECRET#{name}, SK = V#1 if absent',
    },
    {
      name: 'Rotate a server secret',
      servedBy: 'secret-versions.ts: rotate',
      table,
      key: 'TransactWriteItems PK = SECRET#{name}: Put SK = V#{n + 1} if absent, Update older ones',
    },
    {
      name: 'Find a key of the embedded KMS',
      servedBy: 'kms-keys.ts: load',
      table,
      key: 'GetItem PK = KMSKEY#{id}, SK = STATE',
    },
    {
      name: 'Find a backing key of the embedded KMS',
      servedBy: 'kms-keys.ts: loadVersion',
      table,
      key: 'GetItem PK = KMSKEY#{id}, SK = V#{version}',
    },
    {
      name: 'Change a key of the embedded KMS',
      servedBy: 'kms-keys.ts: addVersion, updateState, remove',
      table,
      key: 'PK = KMSKEY#{id}, if revision is as expected',
    },
    {
      name: 'Change the master key of the embedded KMS',
      servedBy: 'kms-rekey-storage.ts',
      table,
      key: 'PK = KMSKEY, SK = MASTER, if the change is as expected; then PK = KMSKEY#{id} for each key',
    },
    {
      name: 'List operators, server secrets or keys, for people',
      servedBy: 'operators.ts, secret-versions.ts, kms-keys.ts: list',
      table,
      key: 'Scan, filtered by PK',
    },
  ],
  functions: [
    {
      name: 'operators',
      summary: 'Knows operators by their tokens',
      allows: [{ table, actions: ['GetItem'], leadingKeys: ['OPERATOR#*'] }],
    },
    {
      name: 'server-secrets',
      summary: 'Makes and reads server secrets',
      allows: [{ table, actions: ['Query', 'PutItem', 'DeleteItem'], leadingKeys: ['SECRET#*'] }],
    },
  ],
  departures: [],
}
