import type { DataModel } from '@strongroom/kit/data-model'
import { BranchKeyItem as schema } from './item.ts'
import { branchKeysTable as table } from './table.ts'

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
  patterns: [
    {
      name: 'WriteNewEncryptedBranchKey',
      servedBy: 'storage.ts: writeNewEncryptedBranchKey',
      table,
      key: 'TransactWriteItems: put version, active and beacon, each if absent',
    },
    {
      name: 'WriteNewEncryptedBranchKeyVersion',
      servedBy: 'storage.ts: writeNewEncryptedBranchKeyVersion',
      table,
      key: 'TransactWriteItems: put version if absent, put active if enc = :encOld',
    },
    {
      name: 'GetEncryptedActiveBranchKey',
      servedBy: 'storage.ts: getEncryptedActiveBranchKey',
      table,
      key: 'branch-key-id = {branchKeyId}, type = branch:ACTIVE',
    },
    {
      name: 'GetEncryptedBranchKeyVersion',
      servedBy: 'storage.ts: getEncryptedBranchKeyVersion',
      table,
      key: 'branch-key-id = {branchKeyId}, type = branch:version:{version}',
    },
    {
      name: 'GetEncryptedBeaconKey',
      servedBy: 'storage.ts: getEncryptedBeaconKey',
      table,
      key: 'branch-key-id = {branchKeyId}, type = beacon:ACTIVE',
    },
    {
      name: 'List branch keys',
      servedBy: 'listing.ts: listBranchKeys',
      table,
      key: 'Scan for type = branch:ACTIVE',
    },
    {
      name: 'List all that is stored of a branch key',
      servedBy: 'listing.ts: listBranchKeyParts',
      table,
      key: 'branch-key-id = {branchKeyId}',
    },
  ],
  functions: [
    {
      name: 'create-branch-key',
      summary: 'Makes new branch keys',
      allows: [{ table, actions: ['PutItem'] }],
    },
    {
      name: 'version-branch-key',
      summary: 'Rotates branch keys',
      allows: [{ table, actions: ['GetItem', 'PutItem'] }],
    },
    {
      name: 'read-branch-key',
      summary: 'Reads branch keys and beacon keys',
      allows: [{ table, actions: ['GetItem'] }],
    },
    {
      name: 'list-branch-keys',
      summary: 'Lists branch keys and their versions for operators',
      allows: [{ table, actions: ['Scan', 'Query'] }],
    },
  ],
  departures: [
    {
      what: 'Attribute names in conditions are placeholders, and the active enc is the branch key',
      decision: '0035-key-store-errata.md',
    },
    {
      what: 'A repeated write is known by its ciphertext, so that a lost answer is no race',
      decision: '0036-key-store-repeated-writes.md',
    },
    {
      what: 'Items are read strictly, consistently, and only with hierarchy-version 1',
      decision: '0037-key-store-strict-reads.md',
    },
  ],
}
