/** The providers that a source can be for: their names, their secrets, and where their webhooks are set up. */
import type { Source } from '../../api/ferryhook.ts'

export type ProviderId = Source['provider']

export interface Provider {
  id: ProviderId
  name: string
  /** What the provider calls the secret. */
  secretLabel: string
  /** Where the secret comes from. */
  secretHint: string
  /** Where the address has to be entered. */
  where: string
  /** How requests are verified, in a few words. */
  verifiedBy: string
  /** The person chooses the secret, so the page can make one. */
  choosesSecret?: boolean
  /** Only the provider can sign, so the server cannot send a signed test event. */
  signsAlone?: boolean
}

export const providers: readonly Provider[] = [
  {
    id: 'stripe',
    name: 'Stripe',
    secretLabel: 'Signing secret',
    secretHint: 'Shown by Stripe after the endpoint is added; it begins with whsec_.',
    where: 'Developers, Webhooks, Add endpoint.',
    verifiedBy: 'Stripe-Signature',
  },
  {
    id: 'github',
    name: 'GitHub',
    secretLabel: 'Webhook secret',
    secretHint: 'Any long random text. Enter the same one at GitHub.',
    where:
      'Repository, Settings, Webhooks, Add webhook. Content type application/json. Use the secret of step 2.',
    verifiedBy: 'X-Hub-Signature-256',
    choosesSecret: true,
  },
  {
    id: 'shopify',
    name: 'Shopify',
    secretLabel: 'Client secret of the app',
    secretHint: 'In the settings of the app; for webhooks of a shop, below the list of webhooks.',
    where: 'Settings, Notifications, Webhooks, or the configuration of the app.',
    verifiedBy: 'X-Shopify-Hmac-Sha256',
  },
  {
    id: 'slack',
    name: 'Slack',
    secretLabel: 'Signing secret',
    secretHint: 'Basic information of the app, App credentials.',
    where: 'Event subscriptions of the app, Request URL.',
    verifiedBy: 'X-Slack-Signature',
  },
  {
    id: 'twilio',
    name: 'Twilio',
    secretLabel: 'Auth token',
    secretHint: 'The auth token of the account, not a SID.',
    where: 'The phone number or service, A message comes in, Webhook.',
    verifiedBy: 'X-Twilio-Signature',
  },
  {
    id: 'sendgrid',
    name: 'SendGrid',
    secretLabel: 'Verification key',
    secretHint: 'Signed event webhook, Verification key: a public key.',
    where: 'Settings, Mail settings, Event webhooks.',
    verifiedBy: 'X-Twilio-Email-Event-Webhook-Signature',
    signsAlone: true,
  },
  {
    id: 'square',
    name: 'Square',
    secretLabel: 'Signature key',
    secretHint: 'Shown with the subscription.',
    where: 'Developer dashboard, Webhooks, Subscriptions.',
    verifiedBy: 'X-Square-HmacSha256-Signature',
  },
  {
    id: 'paypal',
    name: 'PayPal',
    secretLabel: 'Webhook id',
    secretHint: 'Shown with the webhook of the app.',
    where: 'Apps and credentials, the app, Webhooks.',
    verifiedBy: 'PayPal-Transmission-Sig',
    signsAlone: true,
  },
  {
    id: 'gitlab',
    name: 'GitLab',
    secretLabel: 'Signing token or secret token',
    secretHint: 'A signing token begins with whsec_. Prefer it: a secret token is sent as it is.',
    where: 'Project, Settings, Webhooks.',
    verifiedBy: 'Webhook-Signature or X-Gitlab-Token',
    choosesSecret: true,
  },
  {
    id: 'linear',
    name: 'Linear',
    secretLabel: 'Signing secret',
    secretHint: 'Shown with the webhook; it begins with lin_wh_.',
    where: 'Settings, API, Webhooks.',
    verifiedBy: 'Linear-Signature',
  },
  {
    id: 'paddle',
    name: 'Paddle',
    secretLabel: 'Secret key of the destination',
    secretHint: 'Shown with the notification; it begins with pdl_ntfset_.',
    where: 'Developer tools, Notifications.',
    verifiedBy: 'Paddle-Signature',
  },
  {
    id: 'zendesk',
    name: 'Zendesk',
    secretLabel: 'Signing secret',
    secretHint: 'Shown with the webhook, Reveal secret.',
    where: 'Admin center, Apps and integrations, Webhooks.',
    verifiedBy: 'X-Zendesk-Webhook-Signature',
  },
  {
    id: 'discord',
    name: 'Discord',
    secretLabel: 'Public key',
    secretHint: 'General information of the application.',
    where: 'The application, Webhooks, Endpoint URL.',
    verifiedBy: 'X-Signature-Ed25519',
    signsAlone: true,
  },
  {
    id: 'standard-webhooks',
    name: 'Standard Webhooks',
    secretLabel: 'Signing secret',
    secretHint: 'As the sender shows it: whsec_ and base64, or whpk_ for a public key.',
    where: 'The webhook settings of the sender.',
    verifiedBy: 'Webhook-Signature',
  },
  {
    id: 'custom',
    name: 'Custom',
    secretLabel: 'Secret',
    secretHint:
      'The sender puts the HMAC-SHA256 of the body, in hexadecimal, into the header X-Signature. Other schemes can be set with the API.',
    where: 'Wherever your program sends webhooks to.',
    verifiedBy: 'X-Signature',
    choosesSecret: true,
  },
]

export function providerOf(id: string | undefined): Provider | undefined {
  return providers.find((provider) => provider.id === id)
}

/** A secret that nobody can guess, made in the browser. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, '')
}
