/**
 * CreateTable. The table is usable immediately, so its status is never CREATING. Replicas and encryption
 * settings are not stored.
 */
import { randomUUID } from 'node:crypto'
import type { CreateTableInput, TableDescription } from '../db.ts'
import { resourceInUse, validationError } from '../errors.ts'
import {
  attributeDefinitions,
  billingMode,
  keySchema,
  provisionedThroughput,
  secondaryIndex,
  streamSpecification,
  tableClass,
  tags,
} from '../validation/table-shapes.ts'
import { nameOf } from '../validation/names.ts'
import { boolean, list, newTableName, structure } from '../validation/shapes.ts'
import {
  checkDefinitionsUsed,
  checkIndexes,
  checkTableKeys,
  checkThroughput,
} from '../validation/table-definition.ts'
import { describeTable, type TableDetails } from './describe.ts'
import type { Operation } from './operation.ts'
import { checkSecureDelete } from './secure-delete.ts'
import { newStream } from './stream-specification.ts'
import { checkTags } from './tags.ts'

export const createTable: Operation<CreateTableInput, { TableDescription?: TableDescription }> = {
  name: 'CreateTable',
  input: structure('CreateTableInput', {
    'AttributeDefinitions!': attributeDefinitions,
    TableName: { ...newTableName, arn: true },
    BillingMode: billingMode,
    ProvisionedThroughput: provisionedThroughput,
    'KeySchema!': keySchema,
    LocalSecondaryIndexes: list(structure('LocalSecondaryIndex', secondaryIndex)),
    GlobalSecondaryIndexes: list(
      structure('GlobalSecondaryIndex', {
        ...secondaryIndex,
        ProvisionedThroughput: provisionedThroughput,
      }),
    ),
    StreamSpecification: streamSpecification,
    TableClass: tableClass,
    DeletionProtectionEnabled: boolean,
    SecureDeleteEnabled: boolean,
    Tags: tags,
  }),

  async run(context, input) {
    if (input.TableName === undefined || input.TableName === null) {
      throw validationError(
        "The parameter 'TableName' is required but was not present in the request",
      )
    }
    const stream = newStream(input.StreamSpecification)
    const billing = input.BillingMode ?? 'PROVISIONED'
    const definitions = input.AttributeDefinitions
    checkThroughput(billing, input.ProvisionedThroughput)
    const keys = checkTableKeys(input.KeySchema, definitions)
    const indexes = checkIndexes(input, keys, billing)
    checkDefinitionsUsed(definitions, keys, indexes)
    if (input.Tags) checkTags(input.Tags)
    const secureDelete = input.SecureDeleteEnabled === true
    if (secureDelete) checkSecureDelete(stream ? [stream] : [])

    const { storage, clock } = context
    const name = nameOf(input.TableName)
    if (storage.table(name)) throw resourceInUse(`Table already exists: ${name}`)
    const details: TableDetails = {
      tableId: randomUUID(),
      definitions,
      billingMode: billing,
      ...(input.ProvisionedThroughput && { throughput: input.ProvisionedThroughput }),
      ...(billing === 'PAY_PER_REQUEST' && { onDemandSince: clock.now() }),
      ...(input.DeletionProtectionEnabled && { deletionProtection: true }),
      ...(input.TableClass && { tableClass: input.TableClass }),
      ...(secureDelete && { secureDelete }),
      ...(input.Tags && { tags: input.Tags }),
    }
    const table = await storage.createTable({
      name,
      keys,
      indexes,
      details: { ...details },
      ...(stream && { logs: [stream] }),
      ...(secureDelete && { encrypted: true }),
    })
    return { TableDescription: describeTable(context, table) }
  },
}
