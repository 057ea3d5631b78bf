// The published packages. Everything else in packages/ is internal and bundled into them.

/**
 * @typedef {object} LibraryPackage
 * @property {string} directory Has package.json with the name and version, and README.md.
 * @property {string} description
 * @property {string[]} keywords
 * @property {boolean} commonJs Also callable with `require`.
 * @property {Record<string, string>} entries Each path of `exports` with its module in packages/.
 * @property {Record<string, string>} dependencies `pinned` or `compatible` with the version of this clone.
 * @property {Record<string, string>} peers Optional: an app installs those that it uses.
 */

/** @type {LibraryPackage[]} */
export const libraries = [
  {
    directory: 'engine',
    description: 'An embedded DynamoDB: durable, transactional, in your process',
    keywords: ['dynamodb', 'embedded', 'database', 'lmdb', 'local'],
    commonJs: true,
    entries: { '.': 'engine/src/library.ts' },
    // The engine uses private parts of lmdb.
    dependencies: { lmdb: 'pinned' },
    peers: {},
  },
  {
    directory: 'kms',
    description: "An embedded KMS: AWS KMS's operations on software keys wrapped by a master key",
    keywords: ['kms', 'encryption', 'keys', 'embedded', 'local'],
    commonJs: false,
    entries: {
      '.': 'kms/src/library.ts',
      './db-key-storage': 'server/src/kms/db-key-storage.ts',
    },
    dependencies: { zod: 'compatible' },
    peers: {},
  },
  {
    directory: 'key-store',
    description: "Branch keys by AWS's specification, interoperable with AWS's own libraries",
    keywords: ['kms', 'encryption', 'branch keys', 'hierarchical keyring', 'dynamodb'],
    commonJs: false,
    entries: {
      '.': 'key-store/src/library.ts',
      './aws': 'key-store/src/aws/library.ts',
      './aws-kms': 'kit/src/aws-kms.ts',
    },
    dependencies: { zod: 'compatible' },
    peers: {
      '@aws-crypto/branch-keystore-node': '^5.0.2',
      '@aws-crypto/client-node': '^5.0.2',
      '@aws-crypto/material-management': '^5.0.2',
      '@aws-sdk/client-dynamodb': '^3.0.0',
      '@aws-sdk/client-kms': '^3.0.0',
      '@aws-sdk/lib-dynamodb': '^3.0.0',
      '@aws-sdk/util-dynamodb': '^3.0.0',
    },
  },
  {
    directory: 'two-key',
    description: 'Accept a Slack request only if it is signed and its team, user and channel exist',
    keywords: ['slack', 'bolt', 'signature', 'verification', 'security'],
    commonJs: true,
    entries: {
      '.': 'two-key/src/library.ts',
      './dynamo-cache': 'two-key/src/dynamo-cache.ts',
      './installation-store': 'two-key/src/installation-store.ts',
      './hono': 'two-key/src/adapters/hono.ts',
    },
    dependencies: { zod: 'compatible' },
    peers: {
      '@slack/bolt': '^3.0.0 || ^4.0.0 || ^5.0.0',
      hono: '^4.0.0',
      '@aws-sdk/client-dynamodb': '^3.0.0',
      '@aws-sdk/lib-dynamodb': '^3.0.0',
      '@aws-sdk/util-dynamodb': '^3.0.0',
    },
  },
]

/** The command and the server, as one bundle. Only the native library cannot be bundled. */
export const command = {
  directory: 'cli',
  name: 'strongroom',
  description: 'Secrets, webhooks, WordPress sites and keys on your own server',
  keywords: ['secrets', 'webhooks', 'kms', 'wordpress', 'slack', 'dynamodb', 'self-hosted'],
  dependencies: { lmdb: 'pinned' },
}
