import type { DataModel } from '@strongroom/kit/data-model'
import { BranchKeyItem as schema } from './store/item.ts'
import { branchKeysTable as table } from './tables.ts'

export const dataModel: DataModel = {
  service: 'Key store',
  entities: [
    {
      name: 'Branch key, active version',
      table,
      keys: { 'branch-key-id': '{branchKeyId}', type: 'branch:ACTIVE' },
      schema,
    },
    {
      name: 'Branch key, any version',
      table,
      keys: { 'branch-key-id': '{branchKeyId}', type: 'branch:version:{version}' },
      schema,
    },
    {
      name: 'Beacon key',
      table,
      keys: { 'branch-key-id': '{branchKeyId}', type: 'beacon:ACTIVE' },
      schema,
    },
  ],
  functions: [
    {
      name: 'create-branch-key',
      summary: 'Makes new branch keys',
      allows: [{ table, actions: ['PutItem'] }],
      kms: ['GenerateDataKeyWithoutPlaintext', 'ReEncryptFrom', 'ReEncryptTo'],
    },
    {
      name: 'version-branch-key',
      summary: 'Rotates branch keys',
      allows: [{ table, actions: ['GetItem', 'PutItem'] }],
      kms: ['GenerateDataKeyWithoutPlaintext', 'ReEncryptFrom', 'ReEncryptTo'],
    },
    {
      name: 'read-branch-key',
      summary: 'Reads branch keys and beacon keys',
      allows: [{ table, actions: ['GetItem'] }],
      kms: ['Decrypt'],
    },
    {
      name: 'list-branch-keys',
      summary: 'Lists branch keys for operators',
      allows: [{ table, actions: ['Scan'] }],
    },
    {
      name: 'show-branch-key',
      summary: 'Lists the versions of a branch key for operators',
      allows: [{ table, actions: ['Query'] }],
    },
  ],
}
