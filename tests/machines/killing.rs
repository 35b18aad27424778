//! Workers and trainers killed at random moments: no game is lost, none is counted twice, and the run ends.

use std::time::{Duration, Instant};

use crate::s3::{Faults, S3};
use crate::scene::{Place, Scene, finish, kill, succeed, wait_for};

/// Generations of the run.
const GENERATIONS: u32 = 8;

/// Kills of the trainer, with as many of workers between them.
const KILLS: u64 = 4;

/// Three workers and a trainer that plays nothing itself; all of them are killed and started anew, workers one by one.
fn a_run_with_kills(place: Place) {
    let scene = Scene::new(place, GENERATIONS);
    let mut workers: Vec<_> = (0..3).map(|_| scene.worker(&[])).collect();
    let mut trainer = scene.trainer(&["--no-selfplay", "--no-ladder"]);
    // A fixed sequence of moments, so that a failure can be repeated.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut draw = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for round in 0..KILLS {
        std::thread::sleep(Duration::from_millis(300 + draw(1500)));
        let place = draw(3) as usize;
        kill(std::mem::replace(&mut workers[place], scene.worker(&[])));
        std::thread::sleep(Duration::from_millis(300 + draw(2500)));
        let ended = trainer.try_wait().expect("its state");
        let ended_well = ended.is_none_or(|status| status.success());
        assert!(ended_well, "round {round}: {}", String::from_utf8_lossy(&finish(trainer).stderr));
        // In a bucket the next trainer begins while the last one still works; a directory has a lock.
        let next = (!scene.is_directory()).then(|| scene.trainer(&["--no-selfplay", "--no-ladder"]));
        kill(trainer);
        trainer = next.unwrap_or_else(|| scene.trainer(&["--no-selfplay", "--no-ladder"]));
    }
    succeed(finish(trainer));
    // Workers see that the run is finished and go.
    let until = Instant::now() + Duration::from_secs(60);
    for worker in workers {
        let text = succeed(finish(worker));
        assert!(text.contains("the run is finished; uploaded "), "{text}");
    }
    assert!(Instant::now() < until, "workers went in time");
    assert!(!scene.arrived().is_empty(), "workers uploaded games");
    scene.check(GENERATIONS);
}

/// A trainer whose own self-play overlaps its training, killed alone.
#[test]
#[ignore = "takes a minute; scripts/check-long.sh asks for it by name"]
fn killed_while_self_play_overlaps() {
    let scene = Scene::new(Place::Directory, GENERATIONS);
    for round in 1..=KILLS {
        let trainer = scene.trainer(&["--overlap", "--no-ladder"]);
        wait_for(&scene.run(), &format!("metrics/{round:06}.json"));
        std::thread::sleep(Duration::from_millis(40 * round));
        kill(trainer);
    }
    succeed(finish(scene.trainer(&["--overlap", "--no-ladder"])));
    scene.check(GENERATIONS);
    succeed(finish(scene.process(&["check", &scene.run().display().to_string()])));
}

#[test]
#[ignore = "takes a minute; scripts/check-long.sh asks for it by name"]
fn killed_in_a_directory() {
    a_run_with_kills(Place::Directory);
}

#[test]
#[ignore = "takes a minute; scripts/check-long.sh asks for it by name"]
fn killed_in_a_bucket() {
    let s3 = S3::start();
    a_run_with_kills(Place::Bucket(s3));
}

#[test]
#[ignore = "takes a minute; scripts/check-long.sh asks for it by name"]
fn killed_in_a_bucket_that_fails() {
    let s3 = S3::start();
    s3.set_faults(Faults { lost: 4, unanswered: 4, refused: 4, stalled: 1 });
    a_run_with_kills(Place::Bucket(s3));
}
