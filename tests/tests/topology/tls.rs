//! Encrypted connections, and one without a network.

use gorl_core::StoreErrorKind;
use gorl_tests::{RedisServer, Scratch, runtime};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use super::{for_ever, limiter, store};

/// An authority, and a certificate of its own for this machine.
struct Certified {
    authority: String,
    certificate: String,
    key: String,
}

fn certified() -> Certified {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // A certificate whose issuer is called as it is itself is taken for its own issuer.
    params.distinguished_name.push(DnType::CommonName, "an authority");
    let authority_key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, authority_key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let params = CertificateParams::new(names).expect("names");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    Certified {
        authority: authority.pem(),
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    }
}

fn serve(files: &Scratch, by: &Certified, clients: &str) -> (RedisServer, u16) {
    let authority = files.file("ca.pem", &by.authority);
    let certificate = files.file("server.pem", &by.certificate);
    let key = files.file("server.key", &by.key);
    let mut tls_port = 0;
    let server = RedisServer::start_by_two(|port| {
        tls_port = port;
        ["--tls-port", &port.to_string(), "--tls-cert-file", &certificate, "--tls-key-file", &key]
            .iter()
            .chain(&["--tls-ca-cert-file", &authority, "--tls-auth-clients", clients])
            .map(ToString::to_string)
            .collect()
    });
    (server, tls_port)
}

#[test]
fn the_right_authority_is_believed_and_no_other() {
    let (files, runtime, by) = (Scratch::new(), runtime(), certified());
    let (_server, port) = serve(&files, &by, "no");
    let url = format!("rediss://127.0.0.1:{port}/");
    let limiter = limiter(&runtime, for_ever(1), store(&url).certificate_authority(&*by.authority));
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    assert!(!runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    let other = certified().authority;
    for store in [store(&url).certificate_authority(other), store(&url)] {
        let error = runtime.block_on(store.connect()).expect_err("nobody vouches for it");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    }
    let none = store(&url).certificate_authority("not a certificate");
    let error = runtime.block_on(none.connect()).expect_err("no certificate");
    assert_eq!(error.kind(), StoreErrorKind::Other);
}

#[test]
fn a_server_that_asks_for_a_certificate_gets_it() {
    let (files, runtime, by) = (Scratch::new(), runtime(), certified());
    let (_server, port) = serve(&files, &by, "yes");
    let url = format!("rediss://localhost:{port}/");
    let known = store(&url)
        .certificate_authority(&*by.authority)
        .client_certificate(&*by.certificate, &*by.key);
    let limiter = limiter(&runtime, for_ever(1), known);
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    let unknown = store(&url).certificate_authority(&*by.authority);
    let error = runtime.block_on(unknown.connect()).expect_err("it shows no certificate");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
}

#[test]
fn a_socket_of_the_file_system_serves() {
    let (files, runtime) = (Scratch::new(), runtime());
    let socket = files.path().join("redis.sock").display().to_string();
    let _server = RedisServer::start_with(&["--unixsocket", &socket]);
    let limiter = limiter(&runtime, for_ever(1), store(format!("unix://{socket}")));
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    assert!(!runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
}
