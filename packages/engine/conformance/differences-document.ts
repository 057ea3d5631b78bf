/** Renders `docs/dynamodb-differences.md` from the table of differences and from what is left out. */
import { errorsSection } from './aws-errors.ts'
import { operationsSection } from './aws-operations.ts'
import { parametersSection } from './aws-parameters.ts'
import { type Difference, differences } from './differences.ts'

/** What the engine leaves out on purpose, and what it does in its own way without answering wrongly. */
const leftOut: [what: string, reason: string][] = [
  [
    'Export, import, operations in bulk, search by vectors, global tables, Kinesis destinations, resource policies and contributor insights',
    'Not there yet; a request for one of them is refused with an UnknownOperationException',
  ],
  [
    'Global indexes with several attributes in one key',
    'Not there yet; such an index is refused with a ValidationException',
  ],
  [
    'A stream has one shard for as long as it is on, and ShardFilter of DescribeStream has no effect',
    'Shards divide the work of a fleet; here the changes of all items come in one order',
  ],
  [
    'A table with point-in-time recovery can be restored up to now, in AWS up to five minutes ago',
    'What a write replaces is kept in the same transaction',
  ],
  [
    'The items of one partition may exceed 10 GB in a table with local indexes too; in AWS a write then fails with an ItemCollectionSizeLimitExceededException. ReturnItemCollectionMetrics always estimates 0 to 1 GB',
    'The limit is that of one machine of AWS',
  ],
  [
    'Provisioned throughput is recorded, not enforced',
    'There is no shared capacity to protect, and nothing is ever throttled',
  ],
  [
    'Global secondary indexes are strongly consistent',
    'An index is written in the same transaction as its item; ConsistentRead on one is still refused, as in AWS',
  ],
  [
    'Tables and indexes are ACTIVE as soon as they are there, except an index that is being filled and a table that is being restored; a deleted table is gone at once',
    'There is nothing to provision',
  ],
  [
    'Expired items are deleted within seconds, in AWS within days',
    'They are found by an index on their time, which costs next to nothing',
  ],
  [
    'TableSizeBytes, IndexSizeBytes, and the size of the backup that is left of a deleted table are 0; items are counted, at the latest a moment ago',
    'AWS counts both every six hours; a size would cost a pass over all items',
  ],
  [
    'How often throughput, billing and time to live are changed, and how many tables there are, is not limited; DescribeLimits says what a new account of AWS has',
    'These are limits of an account that is shared',
  ],
  [
    'Names of resources are those of the account 000000000000; each client sees all tables, whatever its region and keys. Signatures are checked only if the engine was given keys, which it must be on an address that is not loopback',
    'There are no accounts, only those who reach the engine',
  ],
  [
    'A projection may name more than 20 attributes; together at most 100, as in AWS',
    'The reference of AWS has both limits, its guide the latter alone',
  ],
  [
    'Tags may have names that begin with aws:',
    'AWS keeps them for itself; here nobody else makes tags',
  ],
  [
    'An INSERT of an item that is there cancels an ExecuteTransaction for the reason ValidationError',
    'AWS documents no code of a cancellation for it; DynamoDB Local has this one',
  ],
  [
    'UpdateItem measures the finished item against 400 KB; AWS measures what the expression writes as well',
    'The rule of AWS is not documented, and differs by some twenty bytes',
  ],
  [
    'What is wrong with a malformed statement of PartiQL is said in other words; values in the notation of Ion are taken for malformed',
    'AWS shows the words of the parser that it uses',
  ],
  [
    'Of paths that overlap, both are named; AWS may name another path of the expression as the second. Of several mistakes in one update that only the item shows, the first is told',
    'AWS does not document which, and the path that it names is no help',
  ],
  [
    'A PartiQL condition that compares a key attribute with a value of another type is false where it chooses no key; DynamoDB Local refuses it. ORDER BY wants the partition key outside of OR, or in an OR of nothing else',
    'It is what a filter does; AWS documents neither',
  ],
  [
    'Where the regions of AWS word an error differently, the engine has one of their texts',
    'There is no single text to follow',
  ],
]

export function differencesDocument(): string {
  const entries: [string, Difference][] = Object.entries(differences)
  const ofEngine = entries.filter(([, { targets }]) => !targets.includes('dynamodb-local'))
  const ofLocal = entries.filter(([, { targets }]) => targets.includes('dynamodb-local'))
  return [
    '# Differences from DynamoDB',
    '',
    'The conformance suites (`packages/engine/conformance`) run on the three faces of the engine and on',
    "Amazon's DynamoDB Local. Each test states what AWS does. Where a target is known to do something",
    'else, the test consults the table below, which is generated from `differences.ts` and checked by a',
    'test: an entry that no suite uses, or that the target no longer needs, fails.',
    '',
    ...operationsSection(),
    ...parametersSection(),
    ...errorsSection(),
    '## The engine',
    '',
    ...ofEngine.flatMap(section),
    '### Left out, or done in its own way',
    '',
    '| | Reason |',
    '| --- | --- |',
    ...leftOut.map(([what, reason]) => `| ${what} | ${reason} |`),
    '',
    '## DynamoDB Local',
    '',
    'Listed so that nobody takes DynamoDB Local for AWS: the engine follows AWS in all of these.',
    '',
    '| Id | AWS | DynamoDB Local | Reason |',
    '| --- | --- | --- | --- |',
    ...ofLocal.map(
      ([id, { aws, instead, reason }]) => `| ${id} | ${aws} | ${instead} | ${reason} |`,
    ),
    '',
  ].join('\n')
}

function section([id, { targets, aws, instead, reason }]: [string, Difference]): string[] {
  const faces = { 'drop-in': 'SDK drop-in', http: 'HTTP', db: 'in process', 'dynamodb-local': '' }
  return [
    `### ${id}`,
    '',
    `- Faces: ${targets.map((kind) => faces[kind]).join(', ')}`,
    `- AWS: ${aws}.`,
    `- The engine: ${instead}.`,
    `- Reason: ${reason}.`,
    '',
  ]
}
