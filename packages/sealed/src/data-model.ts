import type { DataModel } from '@strongroom/kit/data-model'
import { SecretItem, secretsTable as table, TombstoneItem } from './table.ts'

export const dataModel: DataModel = {
  service: 'Sealed',
  entities: [
    {
      name: 'Secret',
      table,
      keys: { id: '{id}' },
      schema: SecretItem,
      lifetime:
        'until expiresAt, 15 minutes to 90 days; the last view shortens it to the end of its 30 seconds',
    },
    {
      name: 'Tombstone of an ended secret',
      table,
      keys: { id: '{id}' },
      schema: TombstoneItem,
      lifetime: 'until createdAt + 300 of its secret, with a receipt until receiptUntil',
    },
  ],
  patterns: [
    {
      name: 'Create a secret',
      servedBy: 'store.ts: create',
      table,
      key: 'PutItem id = {id}, attribute_not_exists(id)',
    },
    {
      name: 'Get a secret, take a view, read again within the window',
      servedBy: 'store.ts: claim',
      table,
      key: 'GetItem id = {id}; UpdateItem if link, proof, tries, views, expiry and claim allow it',
    },
    {
      name: 'Count a wrong proof',
      servedBy: 'store.ts: claim',
      table,
      key: 'UpdateItem id = {id} if triesLeft > 0',
    },
    {
      name: 'Acknowledge a view',
      servedBy: 'store.ts: ack',
      table,
      key: 'UpdateItem id = {id} if the claim is there',
    },
    {
      name: 'Burn a secret',
      servedBy: 'store.ts: burn',
      table,
      key: 'GetItem, then UpdateItem or DeleteItem id = {id} if burnToken is right',
    },
    {
      name: "Ask for a secret's receipt",
      servedBy: 'store.ts: status',
      table,
      key: 'GetItem id = {id}',
    },
    {
      name: 'Delete an expired or consumed secret',
      servedBy: 'store.ts: reduce',
      table,
      key: 'GetItem, then UpdateItem or DeleteItem id = {id} if it is still over',
    },
    {
      name: 'Find secrets that nobody ended',
      servedBy: 'sweep.ts: sweep',
      table,
      key: 'Scan for expiresAt <= now, remainingViews = 0 or triesLeft = 0',
    },
    {
      name: 'Count the bytes that are stored, for the quota',
      servedBy: 'quota.ts: look',
      table,
      key: 'Scan of all items',
    },
  ],
  functions: [
    {
      name: 'create-secret',
      summary: 'Stores a new secret',
      allows: [{ table, actions: ['PutItem'] }],
    },
    {
      name: 'reveal-secret',
      summary: 'Takes a view, counts wrong proofs, takes acknowledgements',
      allows: [{ table, actions: ['GetItem', 'UpdateItem', 'DeleteItem'] }],
    },
    {
      name: 'burn-secret',
      summary: 'Destroys a secret for its creator',
      allows: [{ table, actions: ['GetItem', 'UpdateItem', 'DeleteItem'] }],
    },
    {
      name: 'secret-status',
      summary: 'Tells the creator what became of a secret',
      allows: [{ table, actions: ['GetItem'] }],
    },
    {
      name: 'sweep-secrets',
      summary: 'Ends secrets that are over',
      allows: [{ table, actions: ['Scan', 'GetItem', 'UpdateItem', 'DeleteItem'] }],
    },
  ],
  departures: [
    {
      what: 'burnToken and lastAccessToken hold hashes, linkHash and proofHash are added',
      decision: '0008-sealed-tokens-as-hashes.md',
    },
    {
      what: 'Claims instead of one server-made access token; the item outlives its last view by 30 seconds',
      decision: '0009-sealed-claims.md',
    },
    {
      what: 'Holders of the link have ten tries at the proof',
      decision: '0010-sealed-proof-of-possession.md',
    },
    {
      what: 'An ended secret leaves a tombstone instead of nothing',
      decision: '0011-sealed-tombstones.md',
    },
    {
      what: 'Ids have 22 characters, also in examples, and no backup or stream of the table is allowed',
      decision: '0012-sealed-exact-formats.md',
    },
  ],
}
