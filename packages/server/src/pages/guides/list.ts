/** The guides, in the order in which people need them. Titles are here, so that a list needs no texts. */

export interface Guide {
  /** As in the address: `/docs/guides/ferryhook`. */
  name: string
  title: string
  summary: string
}

export interface GuideGroup {
  title: string
  guides: readonly Guide[]
}

export const guideGroups: readonly GuideGroup[] = [
  {
    title: 'Services',
    guides: [
      { name: 'sealed', title: 'Sealed', summary: 'Hand a secret over once' },
      { name: 'ferryhook', title: 'Ferryhook', summary: 'Receive webhooks and deliver them' },
      { name: 'form-bridge', title: 'Form-Bridge', summary: 'Connect a fleet of WordPress sites' },
      { name: 'key-store', title: 'Key store', summary: "Branch keys by AWS's specification" },
      { name: 'two-key', title: 'Two-key', summary: 'Accept only Slack requests that are real' },
    ],
  },
  {
    title: 'Run it',
    guides: [
      { name: 'console', title: 'Console', summary: 'The web console and how to sign in' },
      { name: 'operations', title: 'Operations', summary: 'Start, back up, rotate, troubleshoot' },
      { name: 'upgrading', title: 'Upgrading', summary: 'Start a new version, go back' },
      { name: 'configuration', title: 'Configuration', summary: 'Every setting and its default' },
      { name: 'command-line', title: 'Command line', summary: 'Commands, output and exit codes' },
      {
        name: 'threat-model',
        title: 'Threat model',
        summary: 'What is protected, and what is not',
      },
      { name: 'performance', title: 'Performance', summary: 'Measured, and how to repeat it' },
    ],
  },
  {
    title: 'Reference',
    guides: [
      { name: 'errors', title: 'Errors', summary: 'Every error code of the API' },
      {
        name: 'library-errors',
        title: 'Errors of libraries',
        summary: 'For users of the packages',
      },
      {
        name: 'form-bridge-protocol',
        title: 'Form-Bridge protocol',
        summary: 'How plugin and server talk',
      },
      {
        name: 'sealed-cryptography',
        title: 'Cryptography of Sealed',
        summary: 'The format of secrets and links',
      },
      { name: 'data-model', title: 'Data model', summary: 'Every item that is stored' },
      {
        name: 'architecture',
        title: 'Architecture',
        summary: 'Packages, seams, life of a request',
      },
      { name: 'engine', title: 'Engine', summary: 'The embedded DynamoDB' },
      {
        name: 'dynamodb-differences',
        title: 'Differences from DynamoDB',
        summary: 'What the engine does differently',
      },
    ],
  },
]

/** Pictures of the guides that are served; others are left out. */
export const guideImageNames: readonly string[] = ['performance-http.svg', 'performance-peers.svg']

export const guides: readonly Guide[] = guideGroups.flatMap((group) => group.guides)
