/** The shapes that CreateTable and UpdateTable share. */
import { boolean, indexName, list, long, oneOf, string, structure } from './shapes.ts'

export const attributeDefinitions = list(
  structure('AttributeDefinition', {
    'AttributeName!': string({ min: 1, max: 255 }),
    'AttributeType!': oneOf('B', 'N', 'S'),
  }),
)

export const provisionedThroughput = structure('ProvisionedThroughput', {
  'WriteCapacityUnits!': long({ min: 1 }),
  'ReadCapacityUnits!': long({ min: 1 }),
})

export const keySchema = list(
  structure('KeySchemaElement', {
    'AttributeName!': string({ min: 1, max: 255 }),
    'KeyType!': oneOf('HASH', 'RANGE'),
  }),
  { min: 1, max: 2 },
)

export const projection = structure('Projection', {
  ProjectionType: oneOf('ALL', 'INCLUDE', 'KEYS_ONLY'),
  NonKeyAttributes: list(string({ min: 1, max: 255 }), { min: 1 }),
})

export const secondaryIndex = {
  'IndexName!': indexName,
  'KeySchema!': keySchema,
  'Projection!': projection,
}

export const streamSpecification = structure('StreamSpecification', {
  'StreamEnabled!': boolean,
  StreamViewType: oneOf('NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES', 'KEYS_ONLY'),
})

export const billingMode = oneOf('PROVISIONED', 'PAY_PER_REQUEST')
export const tableClass = oneOf('STANDARD', 'STANDARD_INFREQUENT_ACCESS')
export const tags = list(structure('Tag', { Key: string(), Value: string() }))
