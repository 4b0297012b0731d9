import type { Env, SettingValues } from "@causeway/config";
import { ConfigError, Secret, setting } from "@causeway/config";

const { text, url } = setting;

/** How key services are reached. */
export const keyServiceSettings = {
  googleCredentialsFile: text({
    name: "GOOGLE_APPLICATION_CREDENTIALS",
    optional: true,
    describe:
      "File of the service account that may use keys in Google Cloud KMS (`roles/cloudkms.signerVerifier` on the key). Unset: the metadata server of the machine. Credentials for AWS KMS are found as in AWS's own tools, also in the secrets directory.",
  }),
  googleKmsEndpoint: url({
    name: "GCP_KMS_ENDPOINT",
    schemes: ["http", "https"],
    optional: true,
    describe: "Another origin of Google Cloud KMS, for example a private endpoint.",
  }),
  googleMetadataHost: text({
    name: "GCE_METADATA_HOST",
    optional: true,
    describe: "Another host and port of Google's metadata server, as in Google's own tools.",
  }),
};

/** How key services are reached, from this process. */
export interface KeyServices {
  readonly aws: {
    readonly endpoint: string | undefined;
    /** Undefined: the AWS client finds credentials itself, for example from the role of the machine. */
    readonly credentials:
      | {
          readonly accessKeyId: string;
          readonly secretAccessKey: Secret;
          readonly sessionToken: Secret | undefined;
        }
      | undefined;
  };
  readonly google: {
    readonly credentialsFile: string | undefined;
    readonly endpoint: string | undefined;
    readonly metadataHost: string | undefined;
  };
}

/**
 * Reads the credentials explicitly, because the AWS client reads only the process environment, not the
 * secrets directory.
 * @throws ConfigError for half a key pair
 */
export function readKeyServices(settings: SettingValues<typeof keyServiceSettings>, env: Env): KeyServices {
  const nonEmpty = (name: string): string | undefined => env[name]?.trim() || undefined;
  const accessKeyId = nonEmpty("AWS_ACCESS_KEY_ID");
  const secretAccessKey = nonEmpty("AWS_SECRET_ACCESS_KEY");
  const sessionToken = nonEmpty("AWS_SESSION_TOKEN");
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw new ConfigError(["AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together"]);
  return {
    aws: {
      endpoint: nonEmpty("AWS_ENDPOINT_URL_KMS"),
      credentials:
        accessKeyId === undefined || secretAccessKey === undefined
          ? undefined
          : {
              accessKeyId,
              secretAccessKey: new Secret(secretAccessKey),
              sessionToken: sessionToken === undefined ? undefined : new Secret(sessionToken),
            },
    },
    google: {
      credentialsFile: settings.googleCredentialsFile,
      endpoint: settings.googleKmsEndpoint,
      metadataHost: settings.googleMetadataHost,
    },
  };
}
